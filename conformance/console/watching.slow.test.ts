import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { newTeam, says, starts, teamOf, uses } from '../team.ts'
import { logOf } from '../turns.ts'
import { until } from '../until.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeEnvironment, makeSession, say } from './workspace.ts'

const asksUser = {
  type: 'custom',
  name: 'ask_user',
  description: 'Asks a person.',
  input_schema: { type: 'object', properties: { question: { type: 'string' } } },
}

void describe('watching agents in a browser', () => {
  let service: TestService
  let browser: TestBrowser
  let environment: string
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    environment = await makeEnvironment(service)
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const heldStreams = async (): Promise<number> => {
    const { body } = await service.ask('GET', '/v1/ext/quotas')
    const streams = body.data.find(({ name }) => name === 'streams')
    return Number(streams?.['used'])
  }

  void it('takes one connection for ten tabs and the sessions that they show', async () => {
    const agent = await makeAgent(service, 'coder')
    const titles = Array.from({ length: 9 }, (_, index) => `task ${index}`)
    const sessions = await Promise.all(
      titles.map((title) => makeSession(service, { agent, environment, title })),
    )
    const before = await heldStreams()
    const visit = await browser.visit(service.base, { key: adminKey })
    await visit.page.goto(at(''))
    const tabs = [visit.page]
    for (const session of sessions) {
      const { page } = await browser.tab(visit, service.base)
      await page.goto(at(`sessions/${session}`))
      await page.getByLabel('Write to the agent').waitFor(patience)
      tabs.push(page)
    }
    await Promise.all(sessions.map((session, index) => say(service, session, `say: seen ${index}`)))
    for (const [index, page] of tabs.slice(1).entries())
      await page.getByText(`seen ${index}`, { exact: true }).first().waitFor(patience)
    assert.equal((await heldStreams()) - before, 1)
    assertNoFaults(visit)
    await visit.context.close()
    await until(async () => (await heldStreams()) === before)
  })

  void it('takes no further connection for a session in which five agents work', async () => {
    await using stub = await startStub(anthropicDialect)
    const model = await pricedModel(service, stub, { input: 1, output: 1 })
    const helpers = Array.from({ length: 5 }, (_, at): [string, string] => ['helper', `part ${at}`])
    const boss = [starts(...helpers), uses(['wait_for_agents', {}]), says('all parts are done')]
    const asked = teamOf(stub, { boss, helper: [says('this part is done')] })
    const session = await newTeam(service, model, [{ name: 'helper' }])
    const before = await heldStreams()
    const visit = await browser.visit(service.base, { key: adminKey })
    await visit.page.goto(at(`sessions/${session}`))
    const other = await browser.tab(visit, service.base)
    await other.page.goto(at(''))
    await visit.page.getByLabel('Write to the agent').fill('Do all the parts.')
    await visit.page.keyboard.press('Control+Enter')
    await visit.page.getByText('all parts are done').first().waitFor(patience)
    assert.equal(asked['helper']?.length, 5)
    assert.equal((await heldStreams()) - before, 1)
    assertNoFaults(visit)
    await visit.context.close()
    await until(async () => (await heldStreams()) === before)
  })

  void it('counts the questions to people, and takes an answer on the same page', async () => {
    const { body } = await service.ask('POST', '/v1/agents', {
      ...{ name: 'analyst', model: 'offline', tools: [asksUser] },
    })
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(''))
    await page.getByText('Nobody asks you for anything.').waitFor(patience)
    const session = await makeSession(service, {
      agent: body.id,
      environment,
      title: 'weekly report',
      message: 'call ask_user {"question":"Which ledger is right?"}',
    })
    await page.getByRole('link', { name: 'Home 1' }).waitFor(patience)
    await page.getByRole('link', { name: 'weekly report' }).click()
    await page.getByText('Asks a question').waitFor(patience)
    const card = page.getByRole('group', { name: 'ask_user asks you' })
    await card.getByText('Which ledger is right?').waitFor(patience)
    await card.getByLabel('Answer', { exact: true }).fill('The second one.')
    await page.keyboard.press('Control+Enter')
    await card.waitFor({ state: 'detached', ...patience })
    const log = await logOf(service, session)
    const answer = log.find(({ type }) => type === 'user.custom_tool_result')
    assert.match(JSON.stringify(answer?.['content']), /The second one\./)
    await page.getByRole('link', { name: 'Home', exact: true }).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('changes and removes a message that waits, also after a reload', async () => {
    const agent = await makeAgent(service, 'patient')
    const session = await makeSession(service, {
      ...{ agent, environment, title: 'a long turn', message: 'wait: 600000' },
    })
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    const field = page.getByLabel('Write to the agent')
    for (const text of ['say: the first', 'say: the second']) {
      await field.fill(text)
      await page.keyboard.press('Control+Enter')
      await page
        .locator('article', { hasText: text })
        .getByText('waits to be read')
        .waitFor(patience)
    }
    await page.reload()
    const message = (text: string) => page.locator('article', { hasText: text })
    await message('say: the first').getByRole('button', { name: 'Remove' }).click()
    await message('say: the first').waitFor({ state: 'detached', ...patience })
    await message('say: the second').getByRole('button', { name: 'Change' }).click()
    await page.getByRole('textbox', { name: 'Change' }).fill('say: other words')
    await page.getByRole('button', { name: 'Change' }).click()
    await message('say: other words').getByText('waits to be read').waitFor(patience)
    await page.getByRole('button', { name: 'Interrupt', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Interrupt' }).click()
    await page.getByText('Interrupted by a person').waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('lets a tool run without asking in one session, and takes that back', async () => {
    const agent = await makeAgent(service, 'careful', 'always_ask')
    const session = await makeSession(service, {
      ...{ agent, environment, title: 'careful work', message: 'run: echo one' },
    })
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${session}`))
    const card = page.getByRole('group', { name: 'bash asks for your approval' })
    await card.waitFor(patience)
    await page.waitForTimeout(500)
    await card.getByRole('button', { name: 'Allow in this session' }).click()
    await card.waitFor({ state: 'detached', ...patience })
    await page.getByRole('button', { name: 'bash ×' }).waitFor(patience)
    await page.getByLabel('Write to the agent').fill('run: echo two')
    await page.keyboard.press('Control+Enter')
    await page.getByText('echo two').first().waitFor(patience)
    await until(async () => {
      const idles = (await logOf(service, session)).filter(
        ({ type, stop_reason: stop }) =>
          type === 'session.status_idle' && JSON.stringify(stop).includes('end_turn'),
      )
      return idles.length === 2
    })
    await page.getByRole('button', { name: 'bash ×' }).click()
    await page.getByRole('button', { name: 'bash ×' }).waitFor({ state: 'detached', ...patience })
    const { body } = await service.ask('GET', `/v1/ext/sessions/${session}/allowances`)
    assert.deepEqual(body.data, [])
    assertNoFaults(visit)
    await visit.context.close()
  })
})
