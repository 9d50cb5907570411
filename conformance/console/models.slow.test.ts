import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoBarriers, assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { visitAs } from './workspace.ts'

const key = 'sk-canary-0123456789abcdef'
const headerValue = 'canary-of-a-header'

void describe('models in a browser', () => {
  let service: TestService
  let browser: TestBrowser
  let stub: StubModel
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    stub = await startStub(anthropicDialect)
  })
  after(async () => {
    await browser.close()
    await service.close()
    await stub[Symbol.asyncDispose]()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const path = '/v1/ext/model_cards'
  const answers = () =>
    stub.replies({ blocks: [{ type: 'text', pieces: ['OK'] }], stop: 'end_turn' })
  const make = async (model_id: string, more: object = {}) => {
    answers()
    const card = { provider: 'ant-compatible', model: 'stub-1', base_url: stub.url, api_key: key }
    const made = await service.ask('POST', path, { ...card, model_id, ...more })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    return made.body.id
  }

  void it('is made with a key that no page shows, and each refusal appears under its field', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('models'))
    await page.getByText('Offline model').waitFor(patience)
    await page.getByRole('link', { name: 'New model card' }).click()
    const create = page.getByRole('button', { name: 'Create the model card' })
    const provider = page.getByLabel('Provider', { exact: true })
    await provider.fill('openroute')
    await page.getByLabel('Id for agents').fill('house-model')
    await page.getByLabel('Model at the provider').fill('stub-1')
    await page.getByLabel('API key').fill(key)
    await create.click()
    await page.getByRole('alert').getByText('Do you mean openrouter?').waitFor(patience)
    assert.equal(await provider.getAttribute('aria-invalid'), 'true')
    await provider.fill('ant-compatible')
    await page.getByLabel('Base URL').fill(stub.url)
    await page.getByRole('button', { name: 'More settings' }).click()
    await page.getByLabel('Name of the header').fill('x-team')
    await page.getByLabel('Value of the header').fill(headerValue)
    await page.keyboard.press('Enter')
    const editor = page.locator('.cm-content')
    await editor.click()
    await page.keyboard.type('cost: {input: 2, output: 8}')
    const request = page.getByRole('group', { name: 'What will be sent' })
    await request.getByText('"api_key": "…"').waitFor(patience)
    await request.getByText('"x-team": "…"').waitFor(patience)
    answers()
    await create.click()
    await page.getByRole('heading', { name: 'house-model' }).waitFor(patience)
    await page.getByText('$2.00 in and $8.00 out a million tokens').waitFor(patience)
    const { body } = await service.ask('GET', path)
    const made = body.data.find(({ model_id }) => model_id === 'house-model')
    assert.deepEqual(made?.['custom_headers'], ['x-team'])
    assert.deepEqual(made?.['native_config'], { cost: { input: 2, output: 8 } })
    const html = await page.content()
    for (const hidden of [key, headerValue]) assert.ok(!html.includes(hidden))
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is probed, with what its provider says in words', async () => {
    const card = await make('probed')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`models/${card}`))
    const probe = page.getByRole('button', { name: 'Probe' })
    answers()
    await probe.click()
    await page.getByText('The model answered.').waitFor(patience)
    const message = 'this key is not known'
    stub.replies({ status: 401, error: 'authentication_error', message })
    await probe.click()
    await page.getByText('The model did not answer.').waitFor(patience)
    await page.getByText(message).waitFor(patience)
    await page.getByText('HTTP 401').waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is changed without its key, and deleted after a question', async () => {
    const card = await make('changing', { custom_headers: { 'x-team': headerValue } })
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`models/${card}`))
    await page.getByText('…cdef is kept.').waitFor(patience)
    await page.getByText('its value is not shown').waitFor(patience)
    await page.getByLabel('Display name').fill('Model of the house')
    await page.getByText('1 field differs').waitFor(patience)
    answers()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('changing was saved.').waitFor(patience)
    const { body } = await service.ask('GET', `${path}/${card}`)
    const shown = [body['display_name'], body['custom_headers'], body['api_key_preview']]
    assert.deepEqual(shown, ['Model of the house', ['x-team'], '…cdef'])
    await page.getByRole('button', { name: 'More to do' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the model card' }).click()
    await page.getByRole('heading', { name: 'Models' }).waitFor(patience)
    assert.equal((await service.ask('GET', `${path}/${card}`)).status, 404)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('says what a model costs where an agent chooses it', async () => {
    const native_config = {
      contextWindow: 200_000,
      maxTokens: 32_000,
      cost: { input: 3, output: 15 },
    }
    await make('priced', { native_config })
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('agents/new'))
    await page.getByLabel('Model', { exact: true }).fill('priced')
    await page
      .getByText('200k context, 32.0k output, $3.00 in and $15.00 out a million tokens')
      .waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is read by viewers, whose buttons are off with the reason', async () => {
    const card = await make('looked-at')
    const visit = await visitAs(service, browser, 'viewer')
    const { page } = visit
    await page.goto(at(`models/${card}`))
    const reason = page.getByTitle('A viewer reads and changes nothing')
    for (const name of ['Probe', 'Save']) await reason.filter({ hasText: name }).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('has no barrier in either theme', async () => {
    const card = await make('seen', { custom_headers: { 'x-team': 'two' } })
    await assertNoBarriers(browser, service, ['models', 'models/new', `models/${card}`])
  })
})
