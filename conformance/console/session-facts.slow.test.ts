import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { memoryBeta } from '../isolation-paths.ts'
import type { McpHosts } from '../mcp.ts'
import { callTool, declareServer, mcpHosts, sessionOf } from '../mcp.ts'
import { pricedModel, says } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { until } from '../until.ts'
import type { TestBrowser, Visit } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { assertNoBarriers, visitAsViewer } from './pages.ts'
import { makeAgent, makeEnvironment, makeSession, say } from './workspace.ts'

const shop = 'shop.api.example'

void describe('the page of a session with its origin, use and cost', () => {
  let service: TestService
  let browser: TestBrowser
  let hosts: McpHosts
  let stub: StubModel
  let environment: string
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    hosts = await mcpHosts()
    stub = await startStub(anthropicDialect)
    service = await boot('sqlite', { overrides: { nameOverride: hosts.outside } })
    environment = await makeEnvironment(service)
  })
  after(async () => {
    await browser.close()
    await service.close()
    await stub[Symbol.asyncDispose]()
    await hosts[Symbol.asyncDispose]()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const read = async (path: string) => (await service.ask('GET', path)).body
  const rested = (session: string) =>
    until(async () => (await read(`/v1/sessions/${session}`)).status === 'idle')
  const ended = async (session: string, turns: number) => {
    await until(async () => (await read(`/v1/ext/sessions/${session}`))['turns'] === turns)
    await rested(session)
  }
  const signedIn = (): Promise<Visit> => browser.visit(service.base, { key: adminKey })
  const messagesOf = async (session: string) =>
    (await read(`/v1/sessions/${session}/events?types[]=user.message`)).data
  const make = async (title: string, ...messages: string[]) => {
    const session = await makeSession(service, {
      ...{ agent: await makeAgent(service, 'coder'), environment, title },
    })
    for (const [at, message] of messages.entries()) {
      await say(service, session, message)
      await ended(session, at + 1)
    }
    return session
  }
  const leave = async (visit: Visit) => {
    assertNoFaults(visit)
    await visit.context.close()
  }

  void it('leads from a fork to the session that it began with, and from there to its forks', async () => {
    const session = await make('the first try', 'say: hello.')
    const { body: fork } = await service.ask('POST', `/v1/ext/sessions/${session}/fork`, {
      title: 'the second try',
    })
    const visit = await signedIn()
    const { page } = visit
    await page.goto(at(`sessions/${fork.id}`))
    await page.getByText(/forked from/).waitFor(patience)
    await page.getByText(/at event \d+/).waitFor(patience)
    await page.getByRole('link', { name: 'the first try' }).click()
    await page.getByRole('heading', { name: 'the first try' }).waitFor(patience)
    await page.getByRole('button', { name: 'Details' }).click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByRole('tab', { name: 'Resources' }).click()
    await details.getByRole('link', { name: 'the second try' }).click()
    await page.getByRole('heading', { name: 'the second try' }).waitFor(patience)
    await leave(visit)
  })

  void it('says why the last turn failed, and sends its message again', async () => {
    const session = await make('asks its model', 'say: hello.', 'fail: billing')
    const visit = await signedIn()
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    await page.getByText('The last turn failed').waitFor(patience)
    await page.getByRole('button', { name: 'Send the last message again' }).click()
    await until(async () => (await messagesOf(session)).length === 3)
    const [, second, third] = await messagesOf(session)
    assert.deepEqual(third?.content, second?.content)
    await rested(session)
    await say(service, session, 'say: well again.')
    await page.getByText('well again.', { exact: true }).waitFor(patience)
    await page.getByText('The last turn failed').waitFor({ state: 'detached', ...patience })
    await leave(visit)
  })

  void it('forks a session that takes no more messages before its last one, and sends that there', async () => {
    const session = await make('is over', 'say: hello.', 'say: once more.')
    await service.tenantDatabase.write((tx) =>
      tx
        .updateTable('session_heads')
        .set({ status: 'failed' })
        .where('session_id', '=', session)
        .execute(),
    )
    const visit = await signedIn()
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    await page
      .getByRole('button', { name: 'Fork before the last message and send it again' })
      .click()
    await page.getByRole('heading', { name: 'is over (again)' }).waitFor(patience)
    const [fork] = (await read(`/v1/ext/sessions?forked_from=${session}`)).data
    assert.ok(fork)
    await rested(fork.id)
    const texts = (await messagesOf(fork.id)).map(({ content }) => content)
    assert.deepEqual(
      texts,
      (await messagesOf(session)).map(({ content }) => content),
    )
    await leave(visit)
  })

  void it('shows what the session changed in its memory stores, and what no session may change', async () => {
    const headers = { 'vendor-beta': memoryBeta }
    const ask = async (path: string, body: object) =>
      (await service.ask('POST', `/v1/memory_stores${path}`, body, headers)).body.id
    const [rules, people] = [await ask('', { name: 'rules' }), await ask('', { name: 'people' })]
    await ask(`/${rules}/memories`, { path: '/naming.md', content: 'one\n' })
    const { body } = await service.ask('POST', '/v1/sessions', {
      ...{ agent: await makeAgent(service, 'keeper'), environment_id: environment },
      resources: [
        { type: 'memory_store', memory_store_id: rules },
        { type: 'memory_store', memory_store_id: people, access: 'read_only' },
      ],
    })
    const visit = await signedIn()
    const { page } = visit
    await page.goto(at(`sessions/${body.id}?pane=memory`))
    const details = page.getByRole('complementary', { name: 'Details' })
    const unchanged = details.getByText('This session has changed nothing in it.')
    await unchanged.nth(1).waitFor(patience)
    await details.getByText('only reads').waitFor(patience)
    await say(service, body.id, 'run: echo two >> /mnt/memory/rules/naming.md')
    await details.getByRole('button', { name: /changed \/naming\.md/ }).click(patience)
    await details.getByText('+two').waitFor(patience)
    assert.equal(await unchanged.count(), 1)
    await leave(visit)
  })

  void it('says where a call goes, which credential is for it, what was decided before, and what was used', async () => {
    hosts.mcp(shop)
    const { body: vault } = await service.ask('POST', '/v1/vaults', { display_name: 'production' })
    const auth = { type: 'static_bearer', token: 'tok', mcp_server_url: `https://${shop}/mcp` }
    await service.ask('POST', `/v1/vaults/${vault.id}/credentials`, { display_name: 'till', auth })
    const session = await sessionOf(service, {
      ...{ servers: [declareServer(shop, 'shop')], vault_ids: [vault.id] },
      ...{ environment_id: environment, tools: [{ type: 'mcp_toolset', mcp_server_name: 'shop' }] },
    })
    await say(service, session, callTool('mcp__shop__echo', { text: 'hello' }))
    const visit = await signedIn()
    const { page } = visit
    await page.goto(at(`sessions/${session}?pane=credentials`))
    const card = page.getByRole('group', { name: /asks for your approval/ })
    await card
      .getByText(`Goes to ${shop}, for which the vaults hold the credential till.`)
      .waitFor(patience)
    await card
      .getByText('Nobody has decided about this tool in this session before.')
      .waitFor(patience)
    await service.ask('POST', `/v1/sessions/${session}/events`, {
      events: [await allowing(session)],
    })
    const details = page.getByRole('complementary', { name: 'Details' })
    const used = details.getByRole('row', { name: new RegExp(shop) })
    await used.getByText(/^20[02]$/).waitFor(patience)
    await rested(session)
    await say(service, session, callTool('mcp__shop__echo', { text: 'again' }))
    await card.getByText(/in this session before: approved once\./).waitFor(patience)
    await used.getByRole('link').click()
    await page.getByRole('heading', { name: 'production' }).waitFor(patience)
    await leave(visit)
  })
  const allowing = async (session: string) => {
    const { data } = await read(`/v1/sessions/${session}/events?types[]=agent.mcp_tool_use`)
    return { type: 'user.tool_confirmation', tool_use_id: data[0]?.id, result: 'allow' }
  }

  void it('multiplies tokens of each kind by their price, and shows what it makes', async () => {
    const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
    const model = await pricedModel(service, stub, cost)
    const { body: agent } = await service.ask('POST', '/v1/agents', { name: 'spender', model })
    stub.replies(says('done', { input: 200_000, output: 20_000, cacheRead: 1_000_000 }))
    const session = await makeSession(service, {
      ...{ agent: agent.id, environment, title: 'spends', message: 'go' },
    })
    await ended(session, 1)
    const visit = await signedIn()
    const { page } = visit
    await page.goto(at(`sessions/${session}?pane=usage`))
    const table = page.getByRole('table', { name: 'What the tokens cost' })
    const rowOf = async (name: RegExp) =>
      table.getByRole('row', { name }).getByRole('cell').allTextContents()
    await table.getByText('× $15.00').waitFor(patience)
    assert.deepEqual(await rowOf(/^Input/), ['Input', '200k', '× $3.00', '$0.600'])
    assert.deepEqual(await rowOf(/^From cache/), ['From cache', '1.0M', '× $0.30', '$0.300'])
    assert.deepEqual(await rowOf(/^Output/), ['Output', '20.0k', '× $15.00', '$0.300'])
    assert.deepEqual(await rowOf(/^Total/), ['Total', '', '', '$1.200'])
    assert.equal(await table.getByText('The session has cost').count(), 0, 'it is the total')
    await leave(visit)
  })

  void it('has no barriers, and a viewer who sees all of it and sends nothing', async () => {
    const session = await make('is looked at', 'say: hello.', 'fail: billing')
    const path = `sessions/${session}?pane=usage`
    await assertNoBarriers(browser, service.base, [[path, 'The last turn failed']])
    const visit = await visitAsViewer(browser, service)
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    const again = page.getByRole('button', { name: 'Send the last message again' })
    await again.waitFor(patience)
    assert.equal(await again.getAttribute('aria-disabled'), 'true')
    await page.goto(at(`sessions/${session}?pane=credentials`))
    await page.getByText('No call of this session has carried a credential.').waitFor(patience)
    await leave(visit)
  })
})
