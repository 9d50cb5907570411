import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import type { TestBrowser, Visit } from './browser.ts'
import { assertNoFaults, barriersOf, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeEnvironment, makeSession } from './workspace.ts'

void describe('finding things in the console', () => {
  let service: TestService
  let browser: TestBrowser
  let agents: Record<'reviewer' | 'one' | 'other', string>
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    const environment = await makeEnvironment(service)
    agents = {
      reviewer: await makeAgent(service, 'code reviewer'),
      one: await makeAgent(service, 'twin'),
      other: await makeAgent(service, 'twin'),
    }
    await makeSession(service, { agent: agents.reviewer, environment, title: 'fix the flaky test' })
    await makeSession(service, { agent: agents.one, environment, title: 'port the importer' })
    await makeSession(service, { agent: agents.other, environment, title: 'port the exporter' })
    await service.ask('POST', '/v1/vaults', { display_name: 'flaky secrets' })
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const visitSessions = async (query = ''): Promise<Visit> => {
    const visit = await browser.visit(service.base, { key: adminKey })
    await visit.page.goto(at(`sessions${query}`))
    await visit.page.getByLabel('Filter sessions').first().waitFor(patience)
    return visit
  }
  /** The list may load between: it is waited for until it has this row alone. */
  const listsOnly = async ({ page }: Visit, title: string): Promise<void> => {
    const only = page.locator('tbody:not(:has(tr:nth-child(2))) td:nth-child(2)')
    await only.filter({ hasText: title }).waitFor(patience)
  }

  void it('opens by name what was typed into the palette, with the keyboard alone', async () => {
    const visit = await browser.visit(service.base, { key: adminKey, bypassCSP: true })
    const { page } = visit
    await page.goto(at(''))
    await page.getByRole('heading', { name: 'Home' }).waitFor(patience)
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog')
    await palette.getByRole('combobox').waitFor(patience)
    await page.keyboard.type('flaky')
    const session = palette.getByRole('option', { name: 'fix the flaky test' })
    const vault = palette.getByRole('option', { name: 'flaky secrets' })
    await Promise.all([session.waitFor(patience), vault.waitFor(patience)])
    await palette.getByText('Searching').waitFor({ state: 'detached', ...patience })
    assert.equal(await session.getAttribute('aria-selected'), 'true', 'the first row is chosen')
    assert.deepEqual(await barriersOf(page), [])
    await page.keyboard.press('ArrowDown')
    assert.equal(await vault.getAttribute('aria-selected'), 'true')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'flaky secrets' }).waitFor(patience)
    await page.keyboard.press('Control+k')
    await palette.getByRole('combobox').waitFor(patience)
    await page.keyboard.type('reviewer code')
    await palette.getByRole('option', { name: 'code reviewer' }).waitFor(patience)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'code reviewer' }).waitFor(patience)
    await page.keyboard.press('Control+k')
    await palette.getByRole('combobox').waitFor(patience)
    await page.keyboard.type('zzz no such thing')
    await palette.getByText('Nothing has this name.').waitFor(patience)
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached', ...patience })
    await visit.context.close()
  })

  void it('says which things could not be searched, and finds the others', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.route('**/v1/vaults*', (route) =>
      route.fulfill({
        status: 429,
        contentType: 'application/json',
        body: JSON.stringify({ error: { type: 'rate_limit_error', message: 'too many requests' } }),
      }),
    )
    await page.goto(at(''))
    await page.getByRole('heading', { name: 'Home' }).waitFor(patience)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').waitFor(patience)
    await page.keyboard.type('flaky')
    await page.getByRole('option', { name: 'fix the flaky test' }).waitFor(patience)
    await page.getByText('Vaults could not be searched: too many requests').waitFor(patience)
    await visit.context.close()
  })

  void it('leads back from a thing to its list by escape, except where a form holds something', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    const isAt = (path: string) =>
      page.waitForURL((url) => url.href.split('?', 1)[0] === at(path), patience)
    await page.goto(at(`agents/${agents.reviewer}`))
    await page.getByRole('heading', { name: 'code reviewer' }).waitFor(patience)
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keys' })
    await help.getByText('Back to Agents').waitFor(patience)
    await help.getByText('On an approval').waitFor(patience)
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached', ...patience })
    await page.keyboard.press('Escape')
    await isAt('agents')
    await page.getByRole('link', { name: 'code reviewer' }).click()
    await page.getByLabel('What it is for').fill('reads changes')
    await page.getByRole('heading', { name: 'code reviewer' }).focus()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Leave' }).waitFor(patience)
    await isAt(`agents/${agents.reviewer}`)
    await page.goto(at('skills/new'))
    await page.getByRole('heading', { name: 'New skill' }).focus()
    await page.keyboard.press('?')
    await help.waitFor(patience)
    assert.equal(await help.getByText('Back to').count(), 0)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('filters by the name of an agent, and by plain words', async () => {
    const visit = await visitSessions()
    const { page } = visit
    await page.keyboard.press('/')
    await page.keyboard.type('agent:rev')
    await page.getByRole('option', { name: 'code reviewer' }).waitFor(patience)
    await page.keyboard.press('Tab')
    await page.waitForURL(new RegExp(`agent=${agents.reviewer}`), patience)
    await page.locator('b', { hasText: 'code reviewer' }).waitFor(patience)
    await listsOnly(visit, 'fix the flaky test')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('port importer')
    await page.keyboard.press('Enter')
    await page.waitForURL(/text=port(?:\+|%20)importer/, patience)
    await listsOnly(visit, 'port the importer')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('agent:auditor')
    await page.keyboard.press('Enter')
    await page.getByText('There is no agent “auditor”.').waitFor(patience)
    await page.keyboard.press('Escape')
    await page.keyboard.type('version:1')
    await page.keyboard.press('Enter')
    await page.getByText('version goes with agent').waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('offers a choice where two agents have one name, also for an address', async () => {
    const visit = await visitSessions()
    const { page } = visit
    await page.keyboard.press('/')
    await page.keyboard.type('agent:twin')
    await page.getByRole('option', { name: agents.one }).waitFor(patience)
    await page.keyboard.press('Enter')
    await page.getByText('2 agents are called “twin”.').waitFor(patience)
    await page.getByRole('option', { name: agents.one }).click()
    await page.waitForURL(new RegExp(`agent=${agents.one}`), patience)
    await listsOnly(visit, 'port the importer')
    await page.goto(at('sessions?agent=twin'))
    await page.getByRole('button', { name: agents.other }).click()
    await listsOnly(visit, 'port the exporter')
    await page.goto(at('sessions?agent=code+reviewer'))
    await page.getByRole('link', { name: 'fix the flaky test' }).waitFor(patience)
    await page.goto(at('sessions?agent=nobody'))
    await page.getByText('There is no agent “nobody”.').waitFor(patience)
    await page.getByRole('button', { name: 'Remove agent' }).click()
    await page.getByRole('link', { name: 'port the exporter' }).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('opens the menu of columns also where it is pressed before its script has come', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    const pressed = Promise.withResolvers<void>()
    await page.route('**/assets/menu-*.js', async (route) => {
      await pressed.promise
      await route.continue()
    })
    await page.goto(at('sessions'))
    await page.getByRole('button', { name: 'Columns' }).click()
    pressed.resolve()
    await page.getByRole('menuitemcheckbox', { name: 'Turns', exact: true }).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('shows the columns that somebody chose, on another day too', async () => {
    const visit = await visitSessions()
    const { page } = visit
    const heading = (name: string) => page.getByRole('columnheader', { name })
    await heading('Tokens').waitFor(patience)
    await page.getByRole('button', { name: 'Columns' }).click()
    for (const name of ['Environment', 'Turns', 'Tokens'])
      await page.getByRole('menuitemcheckbox', { name, exact: true }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('cell', { name: 'node-24' }).first().waitFor(patience)
    await page.reload()
    await heading('Turns').waitFor(patience)
    await heading('Tokens').waitFor({ state: 'detached', ...patience })
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitem', { name: 'The usual ones' }).click()
    await heading('Tokens').waitFor(patience)
    await heading('Turns').waitFor({ state: 'detached', ...patience })
    assertNoFaults(visit)
    await visit.context.close()
  })
})
