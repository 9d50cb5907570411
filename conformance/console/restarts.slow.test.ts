import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { serveRoutes } from '@steward/server/ground/http/fixture.ts'
import { consoleRoutes } from '@steward/server/surfaces/console/routes.ts'
import { freePort, stubModel } from '../../bench/processes.ts'
import { root } from '../../scripts/house/sources.ts'
import { startServer } from '../process.ts'
import { adminKey, boot, clientsOf } from '../service.ts'
import { logOf } from '../turns.ts'
import { until } from '../until.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser } from './browser.ts'
import { makeAgent, makeEnvironment, makeSession, say } from './workspace.ts'

const patience = { timeout: 20_000 }
const dist = `${root}packages/console/dist`

/** A build as the next version has it: the same program, in files of other names. */
async function writeNextBuild(folder: string): Promise<void> {
  await cp(dist, folder, { recursive: true })
  const assets = join(folder, 'assets')
  const names = (await readdir(assets)).filter((name) => !/\.(?:br|gz)$/.test(name))
  const next = (text: string) =>
    names.reduce((now, name) => now.replaceAll(name, name.replace(/\.(\w+)$/, 'NEXT.$1')), text)
  for (const name of names) {
    const path = join(assets, name)
    await writeFile(path, next(await readFile(path, 'utf8')))
    await rename(path, join(assets, next(name)))
  }
  const shell = join(folder, 'index.html')
  await writeFile(shell, next(await readFile(shell, 'utf8')))
  const files = ['index.html', ...names.map((name) => `assets/${next(name)}`)]
  const list = Object.fromEntries(files.map((name) => [name, {}]))
  await writeFile(join(folder, 'files.json'), JSON.stringify(list))
}

/** One address for a service and for a console, each of which may be replaced. */
async function frontOf(target: (path: string) => string) {
  const server = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming
    const passed = request(new URL(url, target(url)), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    base: `http://127.0.0.1:${address.port}`,
    close: () => (server.closeAllConnections(), server.close()),
  }
}

void describe('the console over a server that is replaced', () => {
  let browser: TestBrowser
  let folder: string
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    folder = await mkdtemp(join(tmpdir(), 'steward-restarts-'))
  })
  after(async () => {
    await browser.close()
    await rm(folder, { recursive: true, force: true })
  })

  void it('loses nothing and shows nothing twice when the server is killed while an answer comes', async () => {
    const model = await stubModel()
    const environment = {
      PORT: String(await freePort()),
      DATA_DIR: folder,
      SANDBOX_DIR: join(folder, 'sandboxes'),
      EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
      EGRESS_TENANT_TARGETS: '127.0.0.0/8:*',
    }
    let server = await startServer(environment)
    try {
      const service = clientsOf(server.base)
      await service.ask('POST', '/v1/ext/model_cards', {
        ...{ model_id: 'stream', provider: 'ant-compatible', model: 'stream' },
        ...{ base_url: model.url, api_key: 'none-needed' },
      })
      const { body: agent } = await service.ask('POST', '/v1/agents', {
        ...{ name: 'writer', model: 'stream', tools: [] },
      })
      const environment_id = await makeEnvironment(service)
      const session = await makeSession(service, {
        ...{ agent: agent.id, environment: environment_id, title: 'a long answer' },
      })
      const visit = await browser.visit(server.base, { key: adminKey })
      const { page } = visit
      await page.goto(`${server.base}/console/sessions/${session}`)
      await page.getByLabel('Write to the agent').fill('stream 160 40')
      await page.keyboard.press('Control+Enter')
      await page.getByText('word20 ').waitFor(patience)
      await server.kill()
      await page.getByText('reconnecting').waitFor(patience)
      server = await startServer(environment)
      await page.getByText('word159.').waitFor(patience)
      await page.locator('header').getByText('idle').waitFor(patience)
      const articles = await page.locator('[role=log] article').allTextContents()
      const having = (text: string) => articles.filter((each) => each.includes(text)).length
      assert.deepEqual([having('stream 160 40'), having('word0 '), having('word159.')], [1, 1, 1])
      const kept = (await logOf(service, session)).filter(({ type }) =>
        ['user.message', 'agent.message'].includes(type),
      )
      assert.equal(articles.length, kept.length)
      assert.deepEqual(visit.faults.violations, [])
      await visit.context.close()
    } finally {
      await server.kill()
      model.stop()
    }
  })

  void it('loads itself again once when another version is there, and keeps what was written', async () => {
    const service = await boot('sqlite')
    const nextFolder = join(folder, 'next')
    await writeNextBuild(nextFolder)
    await using now = await serveRoutes(consoleRoutes({ publicUrl: undefined }))
    await using next = await serveRoutes(
      consoleRoutes({ publicUrl: undefined, consoleFolder: nextFolder }),
    )
    let shown = now.url
    const front = await frontOf((path) => (path.startsWith('/console') ? shown : service.base))
    try {
      const agent = await makeAgent(service, 'coder')
      const environment = await makeEnvironment(service)
      const session = await makeSession(service, { agent, environment, title: 'a draft' })
      const visit = await browser.visit(front.base, { key: adminKey })
      const { page } = visit
      const loads: string[] = []
      page.on('request', (each) => {
        if (each.isNavigationRequest()) loads.push(new URL(each.url()).pathname)
      })
      await page.goto(`${front.base}/console/sessions/${session}`)
      const field = page.getByLabel('Write to the agent')
      await field.fill('half a thought')
      shown = next.url
      await page.getByRole('link', { name: 'Files', exact: true }).click()
      await page.getByRole('heading', { name: 'Files', exact: true }).waitFor(patience)
      const scripts = await page
        .locator('script[src]')
        .evaluateAll((all) => all.map((each) => String(each.getAttribute('src'))))
      assert.ok(
        scripts.every((src) => src.includes('NEXT')),
        scripts.join(' '),
      )
      assert.equal(loads.length, 2, loads.join(' '))
      await page.goBack()
      await until(async () => (await field.inputValue()) === 'half a thought')
      await say(service, session, 'say: it goes on')
      await page.getByText('it goes on', { exact: true }).first().waitFor(patience)
      assert.equal(loads.length, 2, loads.join(' '))
      assertNoFaults(visit)
      await visit.context.close()
    } finally {
      front.close()
      await service.close()
    }
  })
})
