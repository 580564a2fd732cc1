// A film strip: what the view shows at some times, side by side in one picture.

import type { StudioPage } from './test';

/** Seeks each part of the motion, 0 to 1, and puts the pictures of the view into a PNG. */
export async function filmStrip(studio: StudioPage, parts: number[], path: string): Promise<void> {
  const view = studio.page.getByLabel('Picture of the robot');
  const strip = studio.page.locator('.strip .track');
  const pictures: string[] = [];
  for (const part of parts) {
    const box = await strip.boundingBox();
    if (!box) throw new Error('there is no motion to go through');
    await studio.page.mouse.click(box.x + part * (box.width - 1), box.y + box.height / 2);
    await studio.idle();
    pictures.push((await view.screenshot()).toString('base64'));
  }
  const sheet = await studio.page.context().newPage();
  const height = 360;
  await sheet.setViewportSize({ width: 220 * parts.length, height });
  const images = pictures.map((one) => `<img src="data:image/png;base64,${one}">`).join('');
  await sheet.setContent(
    `<style>body{display:flex;margin:0}img{width:220px;height:${height}px;object-fit:cover}</style>${images}`,
  );
  await sheet.waitForFunction(() => [...document.images].every((image) => image.complete));
  await sheet.screenshot({ path });
  await sheet.close();
}
