import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { until } from '../until.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeEnvironment } from './workspace.ts'

void describe('agents in the console', () => {
  let service: TestService
  let browser: TestBrowser
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const read = async (path: string) => (await service.ask('GET', path)).body

  void it('begin on the first day by one click, which makes all that a session needs', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(''))
    const day = page.getByRole('region', { name: 'Your first day' })
    await day.getByText('The offline model needs no key').waitFor(patience)
    const toModels = day.getByRole('link', { name: 'make a model card' })
    assert.match((await toModels.getAttribute('href')) ?? '', /models\/new$/)
    await day.getByRole('button', { name: 'Make and run' }).first().click()
    await page.getByRole('heading', { name: 'Write a program and run it' }).waitFor(patience)
    await page.getByText('The program divides each number').first().waitFor(patience)
    const [agent] = (await read('/v1/agents')).data
    assert.partialDeepStrictEqual(agent, { name: 'coder', model: 'offline' })
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('are made by a form that shows each refusal under its field, and beside it the call that it sends', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('agents/new'))
    await page.getByRole('button', { name: 'Create the agent' }).click()
    await page.getByText('must not be empty').waitFor(patience)
    await page.getByLabel('Name', { exact: true }).fill('reviewer')
    await page.getByLabel('System prompt').fill('You review.\nSay what breaks.')
    await page.getByText(/^5 words, about \d+ tokens; the tools take about/).waitFor(patience)
    await page.getByRole('combobox', { name: /What bash may do/ }).click()
    await page.getByRole('option', { name: 'asks before each call' }).click()
    const call = page.getByRole('group', { name: 'What will be sent' })
    await call.getByText("'always_ask'").waitFor(patience)
    await call.getByRole('tab', { name: 'curl' }).click()
    await call.getByText('/v1/agents').first().waitFor(patience)
    await page.getByRole('button', { name: 'Create the agent' }).click()
    await page.getByRole('heading', { name: 'reviewer' }).waitFor(patience)
    const [agent] = (await read('/v1/agents')).data
    const permission_policy = { type: 'always_ask' }
    assert.partialDeepStrictEqual(agent, {
      system: 'You review.\nSay what breaks.',
      tools: [{ configs: [{ name: 'bash', enabled: true, permission_policy }] }],
    })
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('are changed by the form and by the YAML, each following the other, and show what a version changed', async () => {
    const id = await makeAgent(service, 'writer')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`agents/${id}`))
    const save = page.getByRole('button', { name: 'Save version 2' })
    await save.waitFor(patience)
    assert.equal(await save.getAttribute('aria-disabled'), 'true', 'nothing was changed')
    await page.getByLabel('System prompt').fill('You write.')
    await page.getByText('1 field differs from version 1').waitFor(patience)
    await page.getByRole('tab', { name: 'YAML' }).click()
    const yaml = page.getByRole('textbox', { name: 'The whole as YAML' })
    await yaml.getByText('You write.').waitFor(patience)
    await yaml.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('description: Writes poems\n')
    await until(
      async () => (await page.getByLabel('What it is for').inputValue()) === 'Writes poems',
    )
    await page.keyboard.type('not: [closed')
    await page.getByRole('alert').first().waitFor(patience)
    assert.equal(await page.getByLabel('What it is for').inputValue(), 'Writes poems')
    for (const _ of 'not: [closed') await page.keyboard.press('Backspace')
    await save.click()
    await page.getByText('writer has version 2.').waitFor(patience)
    await page.getByRole('tab', { name: 'Versions' }).click()
    const diff = page.getByRole('region', { name: 'version 1 → 2' })
    await diff.getByText('system: You write.').waitFor(patience)
    await page.getByRole('button', { name: /version 1/ }).click()
    await page.getByRole('button', { name: 'Take version 1 into the form' }).click()
    await page.getByText('2 fields differ from version 2').waitFor(patience)
    const agent = await read(`/v1/agents/${id}`)
    assert.deepEqual([agent.version, agent.description], [2, 'Writes poems'])
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('keep what was written when somebody else saves first, and save nothing over it', async () => {
    const id = await makeAgent(service, 'shared')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`agents/${id}`))
    await page.getByLabel('System prompt').fill('Mine.')
    await service.ask('POST', `/v1/agents/${id}`, { system: 'Theirs.' })
    await page.getByRole('button', { name: 'Save version 2' }).click()
    await page.getByText('Somebody saved another version meanwhile.').waitFor(patience)
    assert.equal(await page.getByLabel('System prompt').inputValue(), 'Mine.')
    assert.equal((await read(`/v1/agents/${id}`)).system, 'Theirs.')
    await visit.context.close()
  })

  void it('are tried beside the form with what it says, saved or not', async () => {
    await makeEnvironment(service)
    const id = await makeAgent(service, 'tried')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`agents/${id}`))
    await page.getByLabel('System prompt').fill('A prompt that nobody saved.')
    await page.getByRole('tab', { name: 'Try it' }).click()
    await page.getByRole('button', { name: 'Start a trial' }).click()
    await page.getByLabel('Write to the agent').fill('say: I am tried.')
    await page.keyboard.press('Control+Enter')
    await page.getByText('I am tried.', { exact: true }).waitFor(patience)
    await page.getByLabel('System prompt').fill('Another one.')
    await page.getByText('The form was changed since this trial began.').waitFor(patience)
    const [session] = (await read('/v1/sessions')).data
    assert.partialDeepStrictEqual(session, { agent: { system: 'A prompt that nobody saved.' } })
    assert.equal((await read(`/v1/agents/${id}`)).version, 1)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('begin a session in two steps, and are archived after a question', async () => {
    const id = await makeAgent(service, 'starter')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`agents/${id}`))
    await page.getByRole('link', { name: 'New session' }).click()
    await page.getByRole('combobox', { name: 'Agent' }).waitFor(patience)
    await until(
      async () => (await page.getByRole('combobox', { name: 'Agent' }).inputValue()) === 'starter',
    )
    await page.getByLabel('First message').fill('say: begun.')
    await page.getByLabel('Budget').fill('much')
    await page.getByRole('button', { name: 'Start the session' }).click()
    await page.getByRole('alert').first().waitFor(patience)
    await page.getByLabel('Budget').fill('')
    await page.getByRole('button', { name: 'Start the session' }).click()
    await page.getByText('begun.', { exact: true }).waitFor(patience)
    const [session] = (await read('/v1/sessions')).data
    assert.partialDeepStrictEqual(session, { agent: { id } })
    await page.goto(at(`agents/${id}`))
    await page.getByRole('button', { name: 'More to do' }).click()
    await page.getByRole('menuitem', { name: 'Archive the agent' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Cancel' }).waitFor(patience)
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Cancel')
    await dialog.getByRole('button', { name: 'Archive the agent' }).click()
    await page.getByRole('heading', { name: 'Agents' }).waitFor(patience)
    assert.notEqual((await read(`/v1/agents/${id}`)).archived_at, null)
    assertNoFaults(visit)
    await visit.context.close()
  })
})
