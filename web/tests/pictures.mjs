// Pictures of the page: `node pictures.mjs FOLDER`, at 360, 800 and 1,600 pixels, light and dark.
import fs from 'node:fs';
import path from 'node:path';
import { Server, click, give, launch, looked, open, repository, done } from './browser.mjs';

const folder = process.argv[2];
fs.mkdirSync(folder, { recursive: true });
const server = await new Server().start();
const browser = await launch();
for (const width of [360, 800, 1600]) {
    for (const scheme of ['light', 'dark']) {
        const { page } = await open(browser, server.url);
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        await page.setViewport({ width, height: 900 });
        const picture = name => page.screenshot({ path: path.join(folder, `${name}-${width}-${scheme}.png`), fullPage: true });
        await picture('start');
        await give(page, path.join(repository, 'testdata/databases/levels'));
        await new Promise(resolve => setTimeout(resolve, 1000));
        await picture('look');
        for (const step of ['verify', 'tune']) {
            await click(page, `#tab-${step}`);
            await click(page, `#${step} button`);
            await page.waitForSelector(`#${step} iframe`);
            await new Promise(resolve => setTimeout(resolve, 1000));
            await picture(step);
        }
        await click(page, '#tab-entries');
        await click(page, '#scan button');
        await page.waitForSelector('#row-3');
        await page.$eval('#row-3', line => line.click());
        await picture('entries');
        await click(page, '#tab-more');
        await picture('more');
        await page.$eval('#trust', details => details.open = true);
        await (await page.$('#folder')).uploadFile(path.join(repository, 'testdata'));
        await page.waitForSelector('#places-list li:nth-child(3)');
        await picture('places');
        await page.close();
    }
}
await browser.close();
server.end();
