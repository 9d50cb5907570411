import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { root } from '../../scripts/house/sources.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { until } from '../until.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoFaults, barriersOf, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeEnvironment, makeSession } from './workspace.ts'

const FileId = z.looseObject({ id: z.string() })
const memoryBeta = 'agent-memory-2026-07-22'
const withAxe = [1440, 390]
const widths = [1440, 1100, 390, 360]
const height = 900

/** The addresses of the console's pages, as the router has them. */
function routePaths(): string[] {
  const tree = readFileSync(`${root}packages/console/src/route-tree.gen.ts`, 'utf8')
  const [, routes = ''] = /interface FileRoutesByFullPath \{([^}]*)\}/.exec(tree) ?? []
  return [...routes.matchAll(/'\/([^']*)'/g)].map(([, path = '']) => path)
}

/** What is no page of the router, or is another state of one. */
const others = ['sessions/$sessionId?view=events', 'nothing/here']
const signIn = ['../signin', '../signin/code', '../signin/reset', '../signin/invitation']

/** Ids for the parameters of pages, by the name of the parameter. A new page with another parameter needs its line. */
async function seedsOf(service: TestService): Promise<Record<string, readonly string[]>> {
  const environment = await makeEnvironment(service)
  const coder = await makeAgent(service, 'coder')
  const agent = await makeAgent(service, 'reviewer', 'always_ask')
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await service.ask('POST', path, body, { 'vendor-beta': memoryBeta })
    assert.equal(answer.status, 200, path)
    return answer.body.id
  }
  const talking = await makeSession(service, {
    ...{ agent: coder, environment, title: 'port the importer' },
    message:
      'think: first I look.\nrun: printf "\\033[31mred\\033[0m"\nsay: <<END\n# Done\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nconst a = 1\n```\nEND',
  })
  const failed = await makeSession(service, {
    ...{ agent: coder, environment, title: 'sync the catalogue', message: 'fail: request' },
  })
  const asking = await makeSession(service, {
    ...{ agent, environment, title: 'fix the flaky test', message: 'run: git push' },
  })
  for (const session of [talking, failed, asking])
    await until(async () => {
      const { body } = await service.ask('GET', `/v1/sessions/${session}`)
      return body['status'] === 'idle'
    })
  return {
    sessionId: [talking, failed, asking],
    agentId: [agent],
    environmentId: [environment],
    skillId: ['xlsx'],
    fileId: [await madeFile(service)],
    cardId: [
      await made('/v1/ext/model_cards', {
        ...{ model_id: 'house', provider: 'oai-compatible', model: 'm' },
        base_url: 'http://127.0.0.1:9/v1',
      }),
    ],
    storeId: [await made('/v1/memory_stores', { name: 'rules' })],
    vaultId: [await made('/v1/vaults', { display_name: 'keys' })],
  }
}

async function madeFile({ base }: TestService): Promise<string> {
  const body = new FormData()
  body.set('file', new File(['a,b\n1,2\n'], 'report.csv', { type: 'text/csv' }))
  const headers = { 'x-api-key': adminKey }
  const answer = await fetch(`${base}/v1/files`, { method: 'POST', headers, body })
  assert.equal(answer.status, 200)
  return FileId.parse(await answer.json()).id
}

/** The addresses of a page, one for each id of its parameter. */
function addressesOf(path: string, seeds: Record<string, readonly string[]>): string[] {
  const [, name] = /\$(\w+)/.exec(path) ?? []
  if (name === undefined) return [path]
  const ids = seeds[name]
  assert.ok(ids, `the page /${path} has no seed for its parameter ${name}: add it to seedsOf`)
  return ids.flatMap((id) => addressesOf(path.replace(`$${name}`, id), seeds))
}

async function open(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('heading').first().waitFor(patience)
  const loading = page.locator('.shell, #page > [aria-busy="true"]').first()
  await loading.waitFor({ state: 'detached', ...patience })
  // Parts that are loaded when they are first shown, and what they ask for.
  await page.waitForTimeout(300)
}

/** Pixels by which the page is larger than the window. */
const beyondWindow = (page: Page): Promise<number[]> =>
  page.evaluate<number[]>(
    `['Width', 'Height'].map((side) =>
      document.documentElement['scroll' + side] - document.documentElement['client' + side])`,
  )

void describe('each page of the console', () => {
  let service: TestService
  let browser: TestBrowser
  let addresses: string[]
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    const seeds = await seedsOf(service)
    addresses = [...routePaths(), ...others].flatMap((path) => addressesOf(path, seeds))
    assert.ok(addresses.includes('components') && addresses.includes('sessions/'))
    addresses.push(...signIn)
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`

  void it('has no barrier, in both themes, on a screen and on a phone', async () => {
    const visit = await browser.visit(service.base, { key: adminKey, bypassCSP: true })
    const { page } = visit
    for (const path of addresses) {
      await page.setViewportSize({ width: 1440, height })
      await open(page, at(path))
      for (const width of withAxe) {
        await page.setViewportSize({ width, height })
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          await page.waitForTimeout(50)
          assert.deepEqual(await barriersOf(page), [], `${path} ${colorScheme} ${width}`)
        }
      }
    }
    await visit.context.close()
  })

  void it('keeps to its policy, and is no larger than the window, however narrow', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    for (const path of addresses) {
      await page.setViewportSize({ width: 1440, height })
      await open(page, at(path))
      for (const width of widths) {
        await page.setViewportSize({ width, height })
        assert.deepEqual(await beyondWindow(page), [0, 0], `${path} at ${width} px`)
      }
      assertNoFaults(visit)
    }
    await visit.context.close()
  })
})
