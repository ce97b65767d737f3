// Prints by how many MiB the page's memory exceeds that of an empty page while it repairs a damaged database and saves it:
//     FILTERBLOCK_PAGE=… node memory.mjs DATABASE
import fs from 'node:fs';
import { fileUrl, give, launch, open, saved } from './browser.mjs';

const browser = await launch();
const session = await browser.target().createCDPSession();
/** The resident memory of the largest process that shows a page, in MiB. */
async function resident() {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const sizes = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => {
        const status = fs.existsSync(`/proc/${id}/status`) ? fs.readFileSync(`/proc/${id}/status`, 'utf8') : '';
        return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    });
    return Math.max(...sizes);
}
const { page } = await open(browser, 'about:blank');
const empty = await resident();
let most = 0;
const timer = setInterval(async () => most = Math.max(most, await resident()), 100);
await page.goto(fileUrl);
page.setDefaultTimeout(1_800_000);
await give(page, process.argv[2]);
const begun = performance.now();
const zip = await saved(page, 'Repair and save as .zip', 1_800_000);
clearInterval(timer);
console.log(`${Math.round(most - empty)} MiB; ${fs.statSync(zip).size} bytes saved in ${Math.round((performance.now() - begun) / 1000)} s`);
await browser.close();
