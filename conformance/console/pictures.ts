/** The pictures of the documentation: the console over a workspace that is made for them, at one time of one day. */
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { root } from '../../scripts/house/sources.ts'
import { adminKey, boot } from '../service.ts'
import { buildConsole, openBrowser, patience } from './browser.ts'

const viewport = { width: 1440, height: 900 }

/** A page of the documentation, and what has to be there before it is taken. */
const pages: readonly { name: string; open: (page: Page, base: string) => Promise<void> }[] = [
  {
    name: 'home',
    async open(page, base) {
      await page.goto(`${base}/console/`)
      await page.getByText('Waiting for you').first().waitFor(patience)
      await page.getByRole('link', { name: 'weekly revenue report' }).waitFor(patience)
    },
  },
  {
    name: 'sessions',
    async open(page, base) {
      await page.goto(`${base}/console/sessions`)
      await page.getByRole('link', { name: 'draft release notes' }).waitFor(patience)
    },
  },
  {
    name: 'session',
    async open(page, base) {
      await page.goto(`${base}/console/sessions?text=flaky`)
      await page.getByRole('link', { name: 'fix the flaky test' }).click()
      await page.getByRole('group', { name: /asks for your approval/ }).waitFor(patience)
      await page.getByRole('button', { name: 'Details' }).click()
      await page.getByRole('meter', { name: 'Context' }).waitFor(patience)
    },
  },
  {
    name: 'agent',
    async open(page, base) {
      await page.goto(`${base}/console/agents`)
      await page.getByRole('link', { name: 'reviewer' }).click()
      const prompt = page.getByLabel('System prompt')
      await prompt.fill(
        'You review changes. You run the tests that they touch, and ask before you change anything.',
      )
      await page.getByText('1 field differs').waitFor(patience)
    },
  },
]

const themes = ['light', 'dark'] as const

export const pictureNames: readonly string[] = pages.flatMap(({ name }) =>
  themes.map((theme) => `${name}-${theme}.png`),
)

/** Writes every picture into a folder: some ten seconds. */
export async function takePictures(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await buildConsole()
  const service = await boot('sqlite')
  const browser = await openBrowser()
  try {
    const env = { ...process.env, API_KEY: adminKey, DEMO_URL: service.base }
    await promisify(execFile)(process.execPath, ['scripts/demo-workspace.ts'], { cwd: root, env })
    for (const colorScheme of themes) {
      const { page, context } = await browser.visit(service.base, {
        ...{ key: adminKey, viewport, colorScheme, reducedMotion: 'reduce' },
      })
      for (const { name, open } of pages) {
        await open(page, service.base)
        await page.waitForTimeout(300)
        await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
      }
      await context.close()
    }
  } finally {
    await browser.close()
    await service.close()
  }
}
