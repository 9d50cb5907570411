import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { accept, firstLink, password } from '../people.ts'
import type { Page } from 'playwright-core'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { until } from '../until.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeEnvironment, makeSession } from './workspace.ts'

const email = 'ada@example.com'
const hostile =
  '<script>document.title="owned"</script><img src="https://evil.example/x.png" onerror="document.title=1"> [x](javascript:alert(1)) ![pixel](https://evil.example/pixel.png) <svg onload="document.title=2">'

const written = (page: Page) => page.getByLabel('Write to the agent').inputValue()

void describe('the console in a browser', () => {
  let service: TestService
  let browser: TestBrowser
  let asking: string
  let talking: string
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    const environment = await makeEnvironment(service)
    const reviewer = await makeAgent(service, 'reviewer', 'always_ask')
    const coder = await makeAgent(service, 'coder')
    for (const title of ['port the importer', hostile])
      talking = await makeSession(service, { agent: coder, environment, title, message: hostile })
    asking = await makeSession(service, {
      agent: reviewer,
      environment,
      title: 'fix the flaky test',
      message: 'run: echo \u202eapproved',
    })
  })
  after(async () => {
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`

  void it('leads from the one-time link to the list, and keeps the token out of the address', async () => {
    const visit = await browser.visit(service.base)
    const { page } = visit
    const token = firstLink(service)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(`${service.base}/signin/invitation#${token}`)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Your name').fill('Ada Byron')
    await page.getByLabel('New password').fill(password)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor(patience)
    await page.getByRole('link', { name: 'fix the flaky test' }).waitFor(patience)
    assert.match(page.url(), /\/console\/$/)
    assert.deepEqual(
      asked.filter((url) => url.includes(token)),
      [],
    )
    assertNoFaults(visit)
    await page.getByRole('button', { name: 'Ada Byron' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor(patience)
    await visit.context.close()
  })

  void it('leads by a password back to the page that somebody wanted', async () => {
    const visit = await browser.visit(service.base)
    const { page } = visit
    await page.goto(at('sessions?status=idle'))
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Remove the filter status' }).waitFor(patience)
    assert.equal(page.url(), at('sessions?status=idle'))
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('opens by a key that this tab alone keeps, and says when the key is not known', async () => {
    const visit = await browser.visit(service.base)
    const { page } = visit
    await page.goto(at('key'))
    await page.getByLabel('API key').fill('stw_key_unknown')
    await page.keyboard.press('Enter')
    await page.getByText('does not know this key').waitFor(patience)
    await page.getByLabel('API key').fill(adminKey)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home' }).waitFor(patience)
    assert.ok(!page.url().includes(adminKey))
    const { page: other } = await browser.tab(visit, service.base)
    await other.goto(at('sessions'))
    await other.getByRole('heading', { name: 'Sign in' }).waitFor(patience)
    assert.deepEqual(visit.faults.violations, [])
    await visit.context.close()
  })

  void it('goes through the list by keys alone, and puts the focus on the heading of the next page', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('sessions'))
    await page.getByRole('link', { name: 'fix the flaky test' }).waitFor(patience)
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Next row').waitFor(patience)
    await page.keyboard.press('j')
    assert.equal(await page.locator('tr[data-chosen]').count(), 0, 'keys go to the dialog')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached', ...patience })
    await page.keyboard.press('j')
    await page.locator('tr[data-chosen]', { hasText: 'fix the flaky test' }).waitFor(patience)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'fix the flaky test' }).waitFor(patience)
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1')
    // A person types both at once, however long the page takes for the first.
    await Promise.all([page.keyboard.press('g'), page.keyboard.press('s')])
    await page.waitForURL(/sessions$/, patience)
    await page.keyboard.press('/')
    await page.keyboard.type('agnet:x')
    await page.keyboard.press('Enter')
    await page.getByText('There is no filter “agnet”').waitFor(patience)
    await page.keyboard.press('Escape')
    await page.keyboard.type('status:fai')
    await page.keyboard.press('Tab')
    await page.waitForURL(/status=failed/, patience)
    await page.getByText('No session fits these filters.').waitFor(patience)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').waitFor(patience)
    await page.keyboard.type('sessions')
    await page.keyboard.press('Enter')
    await page.waitForURL(/sessions$/, patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('shows a session as it goes: a message, its answer, an approval in two tabs', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${asking}`))
    const card = page.getByRole('group', { name: 'bash asks for your approval' })
    await card.getByText('U+202E').waitFor(patience)
    const other = await browser.tab(visit, service.base)
    await other.page.goto(at(`sessions/${asking}`))
    await other.page.getByRole('group', { name: 'bash asks for your approval' }).waitFor(patience)
    await page.waitForTimeout(500)
    await card.getByRole('button', { name: 'Approve' }).click()
    for (const each of [page, other.page]) {
      await each.getByText('allowed').waitFor(patience)
      await card.waitFor({ state: 'detached', ...patience })
    }
    const field = page.getByLabel('Write to the agent')
    await field.fill('Say hello, please.')
    await page.keyboard.press('Control+Enter')
    await other.page.getByText('Say hello, please.').first().waitFor(patience)
    await until(async () => (await written(page)) === '')
    await page.getByRole('tab', { name: /Events/ }).click()
    await page.getByRole('button', { name: /user\.tool_confirmation/ }).click()
    await page
      .getByRole('complementary', { name: 'Details' })
      .getByText('"allow"')
      .waitFor(patience)
    assert.match(page.url(), /event=sevt_/)
    await page.reload()
    await page.getByRole('complementary', { name: 'Details' }).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('keeps a text that was written and not sent, and asks before it interrupts', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${talking}`))
    const field = page.getByLabel('Write to the agent')
    await field.fill('half a thought')
    await page.reload()
    await until(async () => (await written(page)) === 'half a thought')
    await page.getByLabel('Write to the agent').fill('run: sleep 30')
    await page.keyboard.press('Control+Enter')
    const interrupt = page.getByRole('button', { name: 'Interrupt', exact: true })
    await page.locator('header').getByText('running').waitFor(patience)
    await interrupt.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Let it go on' }).waitFor(patience)
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Let it go on')
    await dialog.getByRole('button', { name: 'Interrupt' }).click()
    await page.getByText('Interrupted by a person').waitFor(patience)
    await page.locator('header').getByText('idle').waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('shows what an agent said as text: nothing runs, nothing is loaded', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`sessions/${talking}`))
    await page.getByText('document.title="owned"').first().waitFor(patience)
    await page.waitForTimeout(500)
    assert.doesNotMatch(await page.title(), /^(?:owned|1|2)$/)
    assert.equal(await page.locator('main img, main svg[onload], main script').count(), 0)
    assert.equal(await page.locator('main a[href^="javascript"]').count(), 0)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('opens layers over a page without a style or a script of their own', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('components'))
    await page.getByRole('combobox', { name: 'Role', exact: true }).click()
    await page.getByRole('option', { name: /admin/ }).click()
    await page.getByRole('button', { name: 'An example of a menu' }).click()
    await page.getByRole('menuitem', { name: 'Copy id' }).click()
    await page.getByRole('button', { name: 'Show a failure' }).click()
    await page.getByText('The version was not saved.').waitFor(patience)
    await page.getByRole('button', { name: 'Found', exact: true }).click()
    await page.getByRole('option', { name: 'Fork here' }).waitFor(patience)
    await page.getByRole('button', { name: 'Revoke key' }).last().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('loads itself again, once, when a part of an earlier version is missing', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('sessions'))
    await page.getByRole('heading', { name: 'Sessions' }).waitFor(patience)
    await page.evaluate('window.isFirst = true')
    let refused = 0
    await page.route(/assets\/.*_app.files.*\.js/, async (route) => {
      refused++
      await (refused > 1 ? route.continue() : route.fulfill({ status: 404, body: '{}' }))
    })
    await page.getByRole('link', { name: 'Files', exact: true }).click()
    await page.getByRole('heading', { name: 'Files', exact: true }).waitFor(patience)
    assert.equal(await page.evaluate(`'isFirst' in window`), false, 'the page was not loaded again')
    await visit.context.close()
  })

  void it('says so without JavaScript, before any script', async () => {
    const visit = await browser.visit(service.base, { javaScriptEnabled: false })
    await visit.page.goto(at('sessions'))
    const said = visit.page.locator('noscript h1')
    await said.waitFor(patience)
    assert.equal(await said.textContent(), 'The console needs JavaScript')
    await visit.context.close()
  })

  void it('is a viewer’s, too: forbidden actions are off, with the reason', async () => {
    const token = await service.invite(
      (await service.ask<{ active_workspace_id: string }>('GET', '/v1/ext/me')).body
        .active_workspace_id,
      'viewer',
    )
    const { cookie } = await accept(service, token, { email: 'vic@example.com', name: 'Vic' })
    const visit = await browser.visit(service.base, { cookie })
    await visit.page.goto(at(`sessions/${talking}`))
    await visit.page.getByPlaceholder('A viewer reads and changes nothing').waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })
})
