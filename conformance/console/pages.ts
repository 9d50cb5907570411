/** What is asked of every page: no barrier in any look, and a viewer who reads and changes nothing. */
import assert from 'node:assert/strict'
import { accept } from '../people.ts'
import type { TestService } from '../service.ts'
import { adminKey } from '../service.ts'
import type { TestBrowser, Visit } from './browser.ts'
import { barriersOf, patience } from './browser.ts'

/** In both themes, wide and on a phone. `paths`: each with a text that stands there once it is whole. */
export async function assertNoBarriers(
  browser: TestBrowser,
  base: string,
  paths: readonly (readonly [path: string, text: string])[],
): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1440, 390]) {
      const viewport = { width, height: 900 }
      const options = { key: adminKey, colorScheme, bypassCSP: true, viewport }
      const visit = await browser.visit(base, options)
      for (const [path, text] of paths) {
        await visit.page.goto(`${base}/console/${path}`)
        await visit.page
          .getByText(text)
          .first()
          .waitFor({ state: 'attached', ...patience })
        const found = await barriersOf(visit.page)
        assert.deepEqual(found, [], `${path} ${colorScheme} ${width}`)
        const over = await visit.page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        assert.equal(over, 0, `${path} is wider than the window of ${width} px`)
      }
      await visit.context.close()
    }
}

/** A browser in which a viewer of the first workspace is signed in. */
export async function visitAsViewer(browser: TestBrowser, service: TestService): Promise<Visit> {
  const { body } = await service.ask<{ active_workspace_id: string }>('GET', '/v1/ext/me')
  const token = await service.invite(body.active_workspace_id, 'viewer')
  const { cookie } = await accept(service, token, { email: 'vic@example.com', name: 'Vic' })
  const visit = await browser.visit(service.base)
  const [name = '', value = ''] = cookie.split(/=(.*)/s)
  await visit.context.addCookies([{ name, value, url: service.base }])
  return visit
}
