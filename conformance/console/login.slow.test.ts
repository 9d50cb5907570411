/** The pages on which people let programs log in, in a browser. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { LoginScene } from '../oauth.ts'
import { bootForLogins, newLoginRequest, officialClientId, tokenRequest } from '../oauth.ts'
import { startReceiver } from '../receiver.ts'
import { until } from '../until.ts'
import type { TestBrowser, Visit } from './browser.ts'
import { barriersOf, openBrowser, patience } from './browser.ts'

const phone = { viewport: { width: 390, height: 844 } }
/** What looks for barriers is a script, which the pages refuse. */
const looks = [
  { ...phone, bypassCSP: true },
  { ...phone, bypassCSP: true, colorScheme: 'dark' },
  { bypassCSP: true },
]

void describe('logins of programs in a browser', () => {
  let scene: LoginScene
  let browser: TestBrowser
  before(async () => {
    scene = await bootForLogins('sqlite')
    browser = await openBrowser()
  })
  after(async () => {
    await browser.close()
    await scene.service.close()
  })
  const visitOf = (options = {}): Promise<Visit> =>
    browser.visit(scene.service.base, { cookie: scene.owner.cookie, ...options })
  async function assertReadable({ page }: Visit): Promise<void> {
    assert.deepEqual(await barriersOf(page), [])
    const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    assert.equal(await page.evaluate(wide), 0, 'the page is as wide as the screen')
  }
  const assertNoFaults = ({ faults }: Visit): void =>
    assert.deepEqual([faults.violations, faults.errors], [[], []])
  const allow = ({ page }: Visit) =>
    page.getByRole('button', { name: 'Allow in default (owner)' }).click()

  void it('lead back to the program with a code, when the person allows it', async () => {
    const program = await startReceiver()
    const redirect_uri = program.base.replace('127.0.0.1', 'localhost') + '/callback'
    const { verifier, request, search } = newLoginRequest({ redirect_uri })
    for (const options of looks) {
      const visit = await visitOf(options)
      await visit.page.goto(`${scene.service.base}/oauth/authorize?${search}`)
      await visit.page.getByRole('heading', { name: 'Let Anthropic CLI act for you' }).waitFor()
      await assertReadable(visit)
      await visit.context.close()
    }
    const visit = await visitOf()
    await visit.page.goto(`${scene.service.base}/oauth/authorize?${search}`)
    await allow(visit)
    await until(() => program.posted.length > 0)
    const at = new URL(program.posted[0]?.path ?? '', program.base)
    assert.equal(at.searchParams.get('state'), request.state)
    const { status } = await tokenRequest(scene.service.base, {
      grant_type: 'authorization_code',
      code: at.searchParams.get('code') ?? '',
      code_verifier: verifier,
      client_id: officialClientId,
      redirect_uri,
    })
    assert.equal(status, 200)
    assertNoFaults(visit)
    await visit.context.close()
    await program.close()
  })

  void it('let a device log in whose code the person types', async () => {
    const asked = await fetch(`${scene.service.base}/v1/oauth/device_authorization`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: officialClientId }),
    })
    const { user_code, device_code } = (await asked.json()) as Record<string, string>
    for (const options of [...looks, phone]) {
      const isRead = options !== phone
      const visit = await visitOf(options)
      const { page } = visit
      await page.goto(`${scene.service.base}/oauth/device`)
      if (isRead) await assertReadable(visit)
      await page.getByLabel('Code').fill('BBBB-BBBB')
      await page.getByRole('button', { name: 'Go on' }).click()
      await page.getByRole('alert').waitFor(patience)
      if (isRead) await assertReadable(visit)
      await page.getByLabel('Code').fill(user_code?.toLowerCase() ?? '')
      await page.getByRole('button', { name: 'Go on' }).click()
      await page.getByRole('heading', { name: 'Let Anthropic CLI act for you' }).waitFor(patience)
      if (isRead) await assertReadable(visit)
      else {
        await allow(visit)
        await page.getByRole('heading', { name: 'The program is logged in' }).waitFor(patience)
        assertNoFaults(visit)
      }
      await visit.context.close()
    }
    const { status } = await tokenRequest(scene.service.base, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device_code ?? '',
      client_id: officialClientId,
    })
    assert.equal(status, 200)
  })
})
