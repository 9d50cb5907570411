/** Chromium of the distribution, for the tests of the console. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { root } from '../../scripts/house/sources.ts'
import { adminKey } from '../service.ts'

/** So long a test waits for what a page shows. A busy machine takes long for a page. */
export const patience = { timeout: 45_000 }

const install = 'Chromium is missing, in which the console is tested: apt-get install -y chromium'

function chromiumPath(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const found = folders
    .map((folder) => join(folder, 'chromium'))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
  assert.ok(found, install)
  return found
}

/** Builds the console where its sources are newer than its last build. */
export const buildConsole = async (): Promise<void> =>
  void (await promisify(execFile)('sh', ['scripts/console.sh'], { cwd: root }))

/** What a page may not do: what its policy refuses, errors, and requests to any other origin. */
type PageFaults = { violations: string[]; errors: string[]; foreign: string[] }

export type Visit = { context: BrowserContext; page: Page; faults: PageFaults }

type VisitOptions = Parameters<Browser['newContext']>[0] & {
  /** The key that the tab has from its start. */
  key?: string
  /** The cookies of a person who has signed in, as a header has them. */
  cookie?: string
}

export type TestBrowser = {
  /** A browser of somebody: its own cookies, and one tab. */
  visit(base: string, options?: VisitOptions): Promise<Visit>
  /** Another tab of the same somebody. */
  tab(visit: Visit, base: string): Promise<Visit>
  close(): Promise<void>
}

const cookiesOf = (header: string, url: string) =>
  header.split('; ').map((pair) => {
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    return { name, value, url }
  })

/** Runs in the page. */
const reportViolations = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.effectiveDirective + ' ' + event.blockedURI))`

async function openTab(context: BrowserContext, base: string, faults: PageFaults): Promise<Page> {
  const page = await context.newPage()
  page.on('console', (message) => {
    if (/policy/i.test(message.text())) faults.violations.push(message.text())
  })
  page.on('pageerror', ({ message }) => faults.errors.push(message))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(base) && !/^(?:data|blob):/.test(url)) faults.foreign.push(url)
  })
  return page
}

export async function openBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    // A container has no sandbox for Chromium, and root none at all.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
  return {
    async visit(base, { key, cookie, ...options } = {}) {
      const context = await browser.newContext({
        viewport: { width: 1440, height: 900 },
        ...options,
      })
      await context.addInitScript({ content: reportViolations })
      if (cookie !== undefined) await context.addCookies(cookiesOf(cookie, base))
      if (key !== undefined)
        await context.addInitScript({
          content: `sessionStorage.setItem('steward.key', ${JSON.stringify(key)})`,
        })
      const faults: PageFaults = { violations: [], errors: [], foreign: [] }
      return { context, page: await openTab(context, base, faults), faults }
    },
    async tab({ context, faults }, base) {
      return { context, faults, page: await openTab(context, base, faults) }
    },
    async close() {
      for (const page of browser.contexts().flatMap((context) => context.pages()))
        await showLeft(page)
      await browser.close()
    },
  }
}

/** A test that fails does not close its pages: what they show says more than the line that waited. */
async function showLeft(page: Page): Promise<void> {
  const text = await page.innerText('body').catch(String)
  process.stderr.write(`left open: ${page.url()}\n${text.slice(0, 4_000)}\n`)
}

export const assertNoFaults = ({ faults }: Visit): void =>
  assert.deepEqual(faults, { violations: [], errors: [], foreign: [] })

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** What a person who cannot see the page would stumble over. The context needs `bypassCSP`. */
export async function barriersOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`,
  )
  assert.ok(Array.isArray(found))
  return found.map(String)
}

/** Looks at pages of the console in both themes, on a wide screen and on a phone. */
export async function assertNoBarriers(
  browser: TestBrowser,
  { base }: { base: string },
  paths: readonly string[],
): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1440, 390]) {
      const viewport = { width, height: 900 }
      const options = { key: adminKey, colorScheme, viewport, bypassCSP: true }
      const { context, page } = await browser.visit(base, options)
      for (const path of paths) {
        const where = `${path}, ${colorScheme}, ${width} px`
        await page.goto(`${base}/console/${path}`)
        await page.getByRole('heading').first().waitFor()
        await page.waitForFunction(`!document.querySelector('[aria-busy=true]')`)
        assert.deepEqual(await barriersOf(page), [], where)
        const over = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        assert.equal(over, 0, `${where}: the page scrolls sideways`)
      }
      await context.close()
    }
}
