// Makes docs/web.png: the page with its sample of a damaged world. `docs/pictures` calls it.
import { fileUrl, launch, looked, open, press } from './browser.mjs';

const browser = await launch();
const { page } = await open(browser, fileUrl);
await page.setViewport({ width: 800, height: 1120 });
await press(page, 'a damaged world');
await looked(page);
await page.evaluate(() => scrollTo(0, 0));
await page.screenshot({ path: process.argv[2] });
await browser.close();
