// The tests' fixtures: a folder, a server in it, and the studio as a person sees it.

import { existsSync } from 'node:fs';
import { type Page, test as base, expect } from '@playwright/test';
import type { Hook } from '../../../packages/web/studio/src/hook';
import { Folder, Server } from './server';

declare global {
  interface Window {
    __studio?: Hook;
  }
}

/** A browser of the system: none is downloaded. */
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'];
const browser = process.env.CHROMIUM ?? BROWSERS.find((path) => existsSync(path));

/** What the driver of a software renderer says of itself. */
const HARMLESS = /GPU stall|GL Driver Message|Automatic fallback to software WebGL/;

/** The studio in a page: what a person does, and the read-only hook. */
export class StudioPage {
  readonly complaints: string[] = [];

  constructor(readonly page: Page) {
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !HARMLESS.test(message.text())) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.stack ?? error.message));
  }

  async open(address: string): Promise<void> {
    await this.page.goto(address);
    await this.page.waitForFunction(() => window.__studio?.ready === true);
    await this.idle();
  }

  /** Waits until every request is answered and everything is drawn. */
  async idle(): Promise<void> {
    await this.page.waitForFunction(() => window.__studio?.idle === true);
  }

  /** Reads something of the hook. */
  get<K extends keyof Hook>(key: K): Promise<Hook[K]> {
    return this.page.evaluate((name) => window.__studio?.[name] as never, key);
  }

  async pose(): Promise<{ [joint: string]: number }> {
    return this.page.evaluate(() => window.__studio?.pose() ?? {});
  }

  async q(joint: string, time: number): Promise<number> {
    return this.page.evaluate(([j, t]) => window.__studio?.q(j as string, t as number) ?? Number.NaN, [joint, time]);
  }

  async body(name: string): Promise<number[]> {
    const pose = await this.page.evaluate((one) => window.__studio?.body(one) ?? null, name);
    if (!pose) throw new Error(`there is no body ${name}`);
    return pose;
  }

  async link(name: string): Promise<[number, number, number]> {
    const position = await this.page.evaluate((one) => window.__studio?.link(one) ?? null, name);
    if (!position) throw new Error(`link ${name} has no handle`);
    return position;
  }

  /**
   * Begins to drag a handle, to where a point of the world is in the window; the button stays down. By its middle, or by the arrow that
   * points there: so many pixels from the middle. [m] (3), [pixel]
   */
  async drag(link: string, [dx, dy, dz]: [number, number, number], grip = 0): Promise<void> {
    const [x, y, z] = await this.link(link);
    const [from, to] = await this.page.evaluate(
      (points) => points.map(([px = 0, py = 0, pz = 0]) => window.__studio?.project(px, py, pz)),
      [
        [x, y, z],
        [x + dx, y + dy, z + dz],
      ],
    );
    if (!from || !to) throw new Error('nothing is drawn');
    const way = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const [gx, gy] = [(grip * (to[0] - from[0])) / way, (grip * (to[1] - from[1])) / way];
    await this.page.mouse.move(from[0] + gx, from[1] + gy);
    await this.page.mouse.down();
    await this.page.mouse.move(to[0] + gx, to[1] + gy, { steps: 10 });
  }

  /** A clock that the next click or key starts, and that stops when something is so; it gives its time. [ms] */
  async clock(isSo: string | ((studio: Hook) => boolean)): Promise<() => Promise<number>> {
    // as text: a function of the test is not there in the page
    const handle = await this.page.evaluateHandle<{ time: Promise<number> }>(`(() => {
      const isSo = ${isSo};
      const time = new Promise((done) => {
        const begin = () => {
          for (const event of ['click', 'keydown']) removeEventListener(event, begin, true);
          const begun = performance.now();
          const look = () => (isSo(window.__studio) ? done(performance.now() - begun) : setTimeout(look, 1));
          look();
        };
        for (const event of ['click', 'keydown']) addEventListener(event, begin, true);
      });
      return { time };
    })()`);
    return () => handle.evaluate(({ time }) => time);
  }

  ik(): Promise<ReturnType<Hook['ik']>> {
    return this.page.evaluate(() => window.__studio?.ik() ?? null);
  }

  slider(joint: string) {
    return this.page.getByRole('slider', { name: joint, exact: true });
  }

  tab(name: string) {
    return this.page.getByRole('tab', { name: new RegExp(`^${name}`) });
  }

  /** Types a position. [degree] */
  async setJoint(joint: string, degrees: number): Promise<void> {
    const field = this.page.locator(`[data-joint="${joint}"]`).getByRole('textbox');
    await field.fill(String(degrees));
    await field.press('Enter');
    await this.idle();
  }

  /** Makes a pose of what is shown and names it. */
  async addPose(name: string): Promise<void> {
    await this.page.getByRole('button', { name: 'New pose of what is shown' }).click();
    await this.idle();
    const fresh = await this.get('selection');
    if (fresh.kind !== 'pose') throw new Error('the new pose is not selected');
    if (fresh.name !== name) {
      await this.page.getByRole('button', { name: `Rename ${fresh.name}`, exact: true }).click();
      await this.page.getByRole('textbox', { name: 'Rename' }).fill(name);
      await this.page.getByRole('textbox', { name: 'Rename' }).press('Enter');
      await this.idle();
    }
  }
}

interface Fixtures {
  /** Skips each test where there is no browser. */
  chromium: undefined;
  folder: Folder;
  /** Starts a server for a file of the folder and opens its page. */
  start: (file?: string, more?: string[]) => Promise<Server>;
  studio: StudioPage;
}

export const test = base.extend<Fixtures>({
  launchOptions: [
    { executablePath: browser, args: ['--no-sandbox', '--enable-unsafe-swiftshader'] },
    { scope: 'worker', option: true },
  ],
  viewport: { width: 1280, height: 800 },
  deviceScaleFactor: 1,
  colorScheme: 'dark',
  locale: 'en-US',
  // a skip at the top of this file would hold for the first file alone that a worker runs
  chromium: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures that are needed from the pattern
    async ({}, use, info) => {
      info.skip(browser === undefined, 'there is no Chromium: apt-get install --no-install-recommends chromium');
      await use(undefined);
    },
    { auto: true },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures that are needed from the pattern
  folder: async ({}, use) => {
    const folder = new Folder();
    await use(folder);
    folder.remove();
  },
  studio: async ({ page }, use) => {
    const studio = new StudioPage(page);
    await use(studio);
    expect(studio.complaints, 'the console of the browser').toEqual([]);
  },
  start: async ({ folder, studio }, use) => {
    const servers: Server[] = [];
    await use(async (file = 'urdf/khr1/khr1.urdf', more = []) => {
      const server = await Server.start(folder.path, file, more);
      servers.push(server);
      await studio.open(server.address);
      return server;
    });
    for (const server of servers) await server.stop();
  },
});

export { expect };
