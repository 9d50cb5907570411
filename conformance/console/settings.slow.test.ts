import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { invitationToken } from '../invitations.ts'
import type { PersonClient } from '../people.ts'
import { accept, firstLink, password } from '../people.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import { until } from '../until.ts'
import type { TestBrowser, Visit } from './browser.ts'
import { assertNoFaults, barriersOf, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent } from './workspace.ts'

const only = { exact: true }
const pages = ['workspace', 'members', 'keys', 'limits', 'me']

type Keys = { data: { id: string; name: string; last_used_at: string | null }[] }
type Members = { data: { id: string; name: string; role: string }[] }
type Quotas = { data: { name: string; value: number | null; source: string }[] }

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const problem = (page: Page) => page.getByRole('alert')

/** A button that is off says why in its title, and stays in reach of the keyboard. */
async function assertOff(page: Page, name: string, reason: string): Promise<void> {
  const found = button(page, name).first()
  await found.waitFor(patience)
  await until(async () => (await found.getAttribute('title')) === reason)
  assert.equal(await found.getAttribute('aria-disabled'), 'true')
}

void describe('the settings in a browser', () => {
  let service: TestService
  let browser: TestBrowser
  let owner: PersonClient
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite', { env: { RATE_LIMITS: 'reads:60000/m,writes:30000/m' } })
    owner = await accept(service, firstLink(service), {
      email: 'ada@example.com',
      name: 'Ada Byron',
    })
    await makeAgent(service, 'reviewer')
  })
  after(async () => {
    await browser.close()
    await service.close()
  })

  const open = async (path: string, { cookie }: PersonClient): Promise<Visit> => {
    const visit = await browser.visit(service.base, { cookie })
    await visit.page.goto(`${service.base}/console/settings${path}`)
    return visit
  }
  const close = async (visit: Visit): Promise<void> => {
    assertNoFaults(visit)
    await visit.context.close()
  }
  async function join(role: string, email: string, name: string): Promise<PersonClient> {
    const { body } = await owner.ask<{ url: string }>('POST', '/v1/ext/invitations', {
      role,
      email,
    })
    return accept(service, invitationToken(body.url), { email, name })
  }
  const statusOf = async (key: string): Promise<number> =>
    (await service.ask('GET', '/v1/agents', undefined, { 'x-api-key': key })).status
  const keysOf = async () => (await owner.ask<Keys>('GET', '/v1/ext/api_keys')).body.data
  const membersOf = async () => (await owner.ask<Members>('GET', '/v1/ext/members')).body.data
  const roleOf = async (name: string) =>
    (await membersOf()).find((member) => member.name === name)?.role

  void it('makes a key that is shown once, reports its first call, and revokes it', async () => {
    const visit = await open('', owner)
    const { page } = visit
    await page.getByRole('heading', { name: 'This workspace' }).waitFor(patience)
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await button(page, 'Make a key').click()
    await assertOff(page, 'Make the key', 'Give it a name first')
    await page.getByLabel('Name', only).fill('n'.repeat(300))
    await button(page, 'Make the key').click()
    await problem(page).getByText('256').waitFor(patience)
    await page.getByLabel('Name', only).fill('release-bot')
    await page.getByRole('combobox', { name: 'What it may do' }).click()
    await page.getByRole('option', { name: 'read everything, change nothing' }).click()
    await page.getByLabel('What will be sent').getByText('"read_only": true').waitFor(patience)
    await button(page, 'Make the key').click()
    const once = page.getByRole('region', { name: 'release-bot is made' })
    const key = (await once.locator('code').textContent(patience)) ?? ''
    assert.match(key, /^stw_key_/)
    const command = (await once.locator('pre').textContent()) ?? ''
    assert.ok(command.includes('$STEWARD_API_KEY') && !command.includes(key))
    await once.getByText('not yet; this line changes').waitFor(patience)
    assert.equal(await statusOf(key), 200)
    await once.getByText('it has worked').waitFor(patience)
    await button(page, 'I have it').click()
    await once.waitFor({ state: 'detached', ...patience })
    assert.ok(!(await page.content()).includes(key))
    await row(page, 'release-bot').getByText('reads alone').waitFor(patience)
    await button(page, 'Revoke').first().waitFor(patience)
    await row(page, 'release-bot').getByRole('button', { name: 'Revoke' }).click()
    const dialog = page.getByRole('dialog', { name: 'Revoke release-bot' })
    await dialog.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('release-bot was revoked.').waitFor(patience)
    await row(page, 'release-bot').waitFor({ state: 'detached', ...patience })
    assert.equal(await statusOf(key), 401)
    await page.getByRole('checkbox', { name: 'Revoked and inactive keys too' }).click()
    await page
      .getByRole('table', { name: 'Revoked keys' })
      .getByText('release-bot')
      .waitFor(patience)
    await close(visit)
  })

  void it('shows keys that are inactive, and activates one again', async () => {
    const { body } = await owner.ask<{ id: string; key: string }>('POST', '/v1/ext/api_keys', {
      name: 'nightly',
    })
    await owner.ask('POST', `/v1/organizations/api_keys/${body.id}`, { status: 'inactive' })
    assert.equal(await statusOf(body.key), 401)
    const visit = await open('/keys', owner)
    const { page } = visit
    await page.getByRole('checkbox', { name: 'Revoked and inactive keys too' }).click()
    await row(page, 'nightly').getByRole('button', { name: 'Activate' }).click()
    await page.getByText('nightly works again.').waitFor(patience)
    await page
      .getByRole('table', { name: 'Keys', exact: true })
      .getByText('nightly')
      .waitFor(patience)
    assert.equal(await statusOf(body.key), 200)
    await close(visit)
  })

  void it('shows what the service refuses: the last admin key stays', async () => {
    const visit = await open('/keys', owner)
    const { page } = visit
    await row(page, 'first key').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke the key' }).click()
    await problem(page).getByText('last valid workspace-admin key').waitFor(patience)
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await statusOf(adminKey), 200)
    await close(visit)
  })

  void it('makes a key of workers with an end, for the work of one environment', async () => {
    const config = { type: 'self_hosted' }
    await service.ask('POST', '/v1/environments', { name: 'gpu-pool', config })
    const visit = await open('/keys', owner)
    const { page } = visit
    await button(page, 'Make a key').click()
    await page.getByLabel('Name', only).fill('gpu-01')
    await page.getByRole('combobox', { name: 'What it may do' }).click()
    await page.getByRole('option', { name: 'the work of one environment' }).click()
    await page.getByRole('combobox', { name: 'Environment' }).fill('gpu')
    await page.getByRole('option', { name: 'gpu-pool' }).click()
    await page.getByRole('combobox', { name: 'Ends' }).click()
    await page.getByRole('option', { name: 'after a day' }).click()
    await page.getByLabel('Last day').fill('2199-02-24')
    await button(page, 'Make the key').click()
    const once = page.getByRole('region', { name: 'gpu-01 is made' })
    await once.getByText('npm run worker').waitFor(patience)
    await once.getByText('work of gpu-pool').waitFor(patience)
    const [made] = (await keysOf()).filter(({ name }) => name === 'gpu-01')
    assert.match(JSON.stringify(made), /"kind":"environment".*"expires_at":"2199-02-2/)
    await close(visit)
  })

  void it('invites a person: shows a refusal under its field, then a link to send, a new link, and none', async () => {
    const visit = await open('/members', owner)
    const { page } = visit
    await button(page, 'Invite somebody').click()
    await page.getByLabel('Email').fill('ops@acme')
    await button(page, 'Invite').click()
    await problem(page).getByText('must be an email address').waitFor(patience)
    await page.getByLabel('Email').fill('grace@example.com')
    await button(page, 'Invite').click()
    const once = page.getByRole('region', { name: 'The invitation of grace@example.com' })
    await once.getByText('The server sent no email').waitFor(patience)
    const link = (await once.locator('code').textContent()) ?? ''
    await button(page, 'I have it').click()
    const invited = row(page, 'grace@example.com')
    await invited.getByText('waits').waitFor(patience)
    await invited.getByRole('button', { name: 'New link' }).click()
    await once.waitFor(patience)
    const newer = (await once.locator('code').textContent()) ?? ''
    assert.notEqual(newer, link)
    await until(async () => (await invited.count()) === 1)
    const token = invitationToken(link)
    const used = await service.ask(
      'POST',
      '/v1/ext/auth/invitation',
      { token, name: 'Eve', password },
      { 'x-api-key': '' },
    )
    assert.notEqual(used.status, 200, 'the link before opens still')
    await accept(service, invitationToken(newer), {
      email: 'grace@example.com',
      name: 'Grace Hopper',
    })
    await button(page, 'I have it').click()
    await button(page, 'Invite somebody').click()
    await button(page, 'Invite').click()
    await button(page, 'I have it').click()
    const anybody = row(page, 'whoever has the link')
    await anybody.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw the invi' }).click()
    await anybody.waitFor({ state: 'detached', ...patience })
    await page.reload()
    await page.getByRole('row', { name: /Grace Hopper/ }).waitFor(patience)
    assert.equal(await roleOf('Grace Hopper'), 'member')
    await close(visit)
  })

  void it('changes a role and removes a member, and says what becomes of their keys', async () => {
    const kim = await join('admin', 'kim@example.com', 'Kim')
    const made = await kim.ask<{ key: string }>('POST', '/v1/ext/api_keys', { name: 'of kim' })
    const visit = await open('/members', owner)
    const { page } = visit
    await page.getByRole('combobox', { name: 'Role of Kim: admin' }).click()
    await page.getByRole('option', { name: 'viewer', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Change the role' }).click()
    await page.getByRole('heading', { name: 'Keys that Kim has made still work' }).waitFor(patience)
    await page.getByText('of kim (').waitFor(patience)
    assert.equal(await roleOf('Kim'), 'viewer')
    assert.equal(await statusOf(made.body.key), 200)
    await row(page, 'kim@example.com').getByRole('button', { name: 'Remove' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove Kim' })
    await dialog.getByRole('checkbox', { name: 'Revoke these keys too' }).click()
    await dialog.getByRole('button', { name: 'Remove the member' }).click()
    await page.getByText('Kim was removed. 1 key revoked with it.').waitFor(patience)
    assert.equal(await statusOf(made.body.key), 401)
    assert.equal(await roleOf('Kim'), undefined)
    await close(visit)
  })

  void it('keeps the last owner: beforehand, and by the service where the list is old', async () => {
    const visit = await open('/members', owner)
    const { page } = visit
    await assertOff(page, 'Leave', 'The last owner stays: name another owner first')
    const joined = await join('owner', 'oz@example.com', 'Oz')
    await page.reload()
    await button(page, 'Leave').click()
    const dialog = page.getByRole('dialog', { name: 'Leave this workspace' })
    await dialog.waitFor(patience)
    assert.equal((await joined.ask('POST', '/v1/ext/auth/leave')).status, 200)
    await dialog.getByRole('button', { name: 'Leave the workspace' }).click()
    await problem(page).getByText('this is the last owner of the workspace').waitFor(patience)
    assert.equal(await roleOf('Ada Byron'), 'owner')
    await close(visit)
  })

  void it('sets limits and takes them back: money, retention, and rates', async () => {
    const quota = async (name: string) =>
      (await owner.ask<Quotas>('GET', '/v1/ext/quotas')).body.data.find(
        (each) => each.name === name,
      )
    const visit = await open('/limits', owner)
    const { page } = visit
    const dialog = page.getByRole('dialog')
    const set = async (name: string, label: string, value: string) => {
      // By the keyboard: what was done last may still be told over the button.
      await row(page, name).getByRole('button', { name: 'Set' }).press('Enter')
      await dialog.getByLabel(label, only).fill(value)
      await dialog.getByRole('button', { name: 'Set the limit' }).click()
    }
    await set('A month', 'At most', 'a lot')
    await problem(page).getByText('must be an amount in US dollars').waitFor(patience)
    await dialog.getByLabel('At most', only).fill('12.50')
    await dialog.getByText('"amount": "1250"').waitFor(patience)
    await dialog.getByRole('button', { name: 'Set the limit' }).click()
    await row(page, 'A month').getByText('$12.50').waitFor(patience)
    const spend = await owner.ask('GET', '/v1/organizations/spend_limits/effective')
    assert.match(JSON.stringify(spend.body), /"amount":"1250".*"period":"monthly"/)
    await set('Agents', 'At most', '7')
    await row(page, 'Agents').getByText('this workspace').waitFor(patience)
    assert.equal((await quota('agents'))?.value, 7)
    await set('Agents', 'At most', '1e99')
    await problem(page).getByText('must be a whole number').waitFor(patience)
    await dialog.getByRole('button', { name: 'Take it back' }).click()
    await row(page, 'Agents').getByText('no limit').waitFor(patience)
    assert.equal((await quota('agents'))?.value, null)
    await set('Changes', 'Requests', '9,000')
    await row(page, 'Changes').getByText('9,000 a minute').waitFor(patience)
    await row(page, 'Changes').getByText('30,000 a minute').waitFor(patience)
    await close(visit)
  })

  void it('shows what may be named, how long things are kept, and what is held', async () => {
    await owner.ask('POST', '/v1/ext/rules', { allowed: { images: ['registry.example.com/*'] } })
    await owner.ask('POST', '/v1/ext/retention', { sessions: 90 })
    const { body: hold } = await owner.ask<{ id: string }>('POST', '/v1/ext/holds', {
      ...{ scope: { type: 'workspace' }, reason: 'case 4711' },
    })
    const visit = await open('/limits', owner)
    const { page } = visit
    await row(page, 'Images').getByText('registry.example.com/*').waitFor(patience)
    await row(page, 'Sessions at rest').getByText('90').waitFor(patience)
    await row(page, 'the whole workspace').getByText('case 4711').waitFor(patience)
    await owner.ask('POST', `/v1/ext/holds/${hold.id}/release`)
    await owner.ask('POST', '/v1/ext/rules', { allowed: { images: null } })
    await close(visit)
  })

  void it('renames the workspace, and the rail follows', async () => {
    const visit = await open('/workspace', owner)
    const { page } = visit
    await assertOff(page, 'Rename', 'The name was not changed')
    await page.getByLabel('Name', only).fill(' ')
    await button(page, 'Rename').click()
    await problem(page).waitFor(patience)
    await page.getByLabel('Name', only).fill('Acme research')
    await button(page, 'Rename').click()
    await page.getByText('The workspace is called Acme research now.').waitFor(patience)
    await page.getByRole('navigation').getByText('Acme research').first().waitFor(patience)
    await button(page, 'Archive').click()
    await assertOff(page, 'Archive the workspace', 'Write the name of the workspace first')
    await close(visit)
  })

  void it('changes a password, and shows and ends other sign-ins of the person', async () => {
    const pat = await join('member', 'pat@example.com', 'Pat')
    const signIn = async (by: string) =>
      (
        await service.ask(
          'POST',
          '/v1/ext/auth/sign_in',
          { email: 'pat@example.com', password: by },
          { 'x-api-key': '', 'user-agent': 'curl/8.5.0' },
        )
      ).status
    assert.equal(await signIn(password), 200)
    const visit = await open('/me', pat)
    const { page } = visit
    await row(page, 'curl/8.5.0').getByRole('button', { name: 'End' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End the sign-in' }).click()
    await row(page, 'curl/8.5.0').waitFor({ state: 'detached', ...patience })
    const next = 'another horse battery'
    await page.getByLabel('Current password').fill('not my password')
    await page.getByLabel('New password').fill(next)
    await button(page, 'Change the password').click()
    await problem(page).getByText('this is not your password').waitFor(patience)
    await page.getByLabel('Current password').fill(password)
    await button(page, 'Change the password').click()
    await page.getByText('The password was changed.').waitFor(patience)
    assert.equal(await signIn(password), 401)
    assert.equal(await signIn(next), 200)
    await close(visit)
  })

  void it('shows a viewer the settings, with every change off and its reason', async () => {
    const vic = await join('viewer', 'vic@example.com', 'Vic')
    const visit = await open('/keys', vic)
    const { page } = visit
    const admins = 'Only admins and owners of the workspace may do this'
    await assertOff(page, 'Make a key', 'A viewer reads and changes nothing')
    await assertOff(page, 'Revoke', 'A viewer reads and changes nothing')
    const to = (path: string) => page.goto(`${service.base}/console/settings${path}`)
    await to('/members')
    await assertOff(page, 'Invite somebody', admins)
    await assertOff(page, 'Remove', admins)
    await page.getByText('Admins and owners see the invitations.').waitFor(patience)
    await to('/limits')
    await assertOff(page, 'Set', admins)
    await row(page, 'A month').getByText('$12.50').waitFor(patience)
    await to('/workspace')
    await assertOff(page, 'Rename', admins)
    await assertOff(page, 'Archive', 'Only owners of the workspace may do this')
    await close(visit)
  })

  void it('opens by keys, and shows no sign-ins where an API key looks', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(`${service.base}/console/`)
    await page.getByRole('heading', { name: 'Home' }).waitFor(patience)
    await Promise.all([page.keyboard.press('g'), page.keyboard.press(',')])
    await page.waitForURL(/settings\/workspace$/, patience)
    const list = page.getByRole('navigation', { name: 'Pages of the settings' })
    await list.getByRole('link', { name: 'Limits' }).waitFor(patience)
    assert.equal(await list.getByRole('link', { name: 'My sign-ins' }).count(), 0)
    await close(visit)
  })

  void it('has no barrier on any page, in both themes and on a phone', async () => {
    for (const [colorScheme, width] of [
      ['light', 1440],
      ['dark', 390],
    ] as const) {
      const { cookie } = owner
      const viewport = { width, height: 900 }
      const visit = await browser.visit(service.base, {
        ...{ cookie, colorScheme, viewport },
        bypassCSP: true,
      })
      for (const name of pages) {
        await visit.page.goto(`${service.base}/console/settings/${name}`)
        await visit.page.getByRole('button').last().waitFor(patience)
        await until(async () => (await visit.page.locator('[aria-busy]').count()) === 0)
        assert.deepEqual(await barriersOf(visit.page), [], `${name} ${colorScheme} ${width}`)
        const over = await visit.page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        assert.equal(over, 0, `${name} is wider than the window of ${width} px`)
      }
      await visit.context.close()
    }
  })
})
