import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { until } from '../until.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeEnvironment, makeSession } from './workspace.ts'

/** Runs in the page: notes what would be shown outside of it, and hides the page. */
const noticesNoted = `
  Object.defineProperty(document, 'visibilityState', { get: () => window.shown ?? 'visible' })
  window.noted = []
  window.Notification = class extends EventTarget {
    static permission = 'granted'
    constructor(title, { body }) { super(); window.noted.push({ title, body, isOpen: true }); this.at = window.noted.length - 1 }
    close() { window.noted[this.at].isOpen = false }
  }`

void describe('the list of sessions in the console', () => {
  let service: TestService
  let browser: TestBrowser
  let environment: string
  let agent: string
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    environment = await makeEnvironment(service)
    agent = await makeAgent(service, 'reviewer', 'always_ask')
    for (const title of ['=cmd()', 'port the importer', 'port the exporter'])
      await makeSession(service, { agent, environment, title })
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`

  void it('keeps filters under a name, for all tabs and other days, and takes back their removal', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('sessions?text=port'))
    await page.getByRole('button', { name: 'Save as a view' }).click()
    await page.getByLabel('Name').fill('ports')
    await page.keyboard.press('Enter')
    const chip = page.getByRole('button', { name: 'ports', exact: true })
    await chip.waitFor(patience)
    await page.goto(at('sessions'))
    await page.getByRole('link', { name: '=cmd()' }).waitFor(patience)
    await chip.click()
    await page.waitForURL(/text=port/, patience)
    await page.getByRole('link', { name: '=cmd()' }).waitFor({ state: 'detached', ...patience })
    await page.getByRole('button', { name: 'Remove ports' }).click()
    await page.getByText('The view ports was removed.').waitFor(patience)
    await page.getByRole('button', { name: 'Undo' }).click()
    await chip.waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('takes out and archives all of a filter, with their number first', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('sessions'))
    await page.getByRole('button', { name: 'All of these' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('3 sessions').waitFor(patience)
    const saving = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Export as CSV' }).click()
    const csv = await readFile(await (await saving).path(), 'utf8')
    assert.match(csv, /^id,status,title,/)
    assert.match(csv, /,'=cmd\(\),/, 'no table program reads a title as a formula')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.goto(at('sessions?text=port'))
    await page.getByRole('button', { name: 'All of these' }).click()
    await dialog.getByRole('button', { name: 'Archive 2…' }).click()
    assert.equal((await service.ask('GET', '/v1/sessions')).body.data.length, 3, 'it asks first')
    await dialog.getByRole('button', { name: 'Archive 2 for good' }).click()
    await page.getByText('No session fits these filters.').waitFor(patience)
    const { body } = await service.ask('GET', '/v1/sessions')
    assert.deepEqual(
      body.data.map((session) => session['title']),
      ['=cmd()'],
    )
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('notifies a person in another window that an agent asks, names only the tool, and withdraws the notification', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    await visit.context.addInitScript({ content: noticesNoted })
    const { page } = visit
    const noted = () => page.evaluate<{ title: string; body: string; isOpen: boolean }[]>('noted')
    await page.goto(at('sessions'))
    await page.getByRole('heading', { name: 'Sessions' }).waitFor(patience)
    await page.evaluate(`window.shown = 'hidden'`)
    const session = await makeSession(service, {
      ...{ agent, environment, title: 'clean up', message: 'run: echo a secret of the input' },
    })
    await until(async () => (await noted()).length === 1, noted)
    const [notice] = await noted()
    assert.equal(notice?.title, 'reviewer asks')
    assert.match(notice.body, /clean up · .*bash/)
    assert.doesNotMatch(JSON.stringify(notice), /secret/)
    await until(async () => (await page.title()).startsWith('(1) '))
    const { body } = await service.ask('GET', `/v1/ext/sessions/${session}`)
    assert.partialDeepStrictEqual(body, { waiting_on: { type: 'approval' } })
    const { data } = (await service.ask('GET', `/v1/sessions/${session}/events`)).body
    const call = data.find(({ type }) => type === 'agent.tool_use')
    await service.ask('POST', `/v1/sessions/${session}/events`, {
      events: [{ type: 'user.tool_confirmation', tool_use_id: call?.id, result: 'deny' }],
    })
    await until(async () => (await noted())[0]?.isOpen === false, noted)
    await until(async () => !(await page.title()).startsWith('('))
    await visit.context.close()
  })
})
