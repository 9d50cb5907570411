import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { adminKey, boot } from '../service.ts'
import type { TestService } from '../service.ts'
import type { TestBrowser, Visit } from './browser.ts'
import { assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { assertNoBarriers, visitAsViewer } from './pages.ts'

const good = 'a-token-that-is-good'

/** An MCP server that takes one token. */
async function openMcpServer(): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    request.resume()
    const isGood = request.headers.authorization === `Bearer ${good}`
    response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: isGood ? null : 'the token was revoked <b>today</b>' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return { server, url: `http://127.0.0.1:${address.port}/mcp` }
}

void describe('vaults in a browser', () => {
  let service: TestService
  let browser: TestBrowser
  let mcp: Awaited<ReturnType<typeof openMcpServer>>
  before(async () => {
    await buildConsole()
    browser = await openBrowser()
    service = await boot('sqlite')
    mcp = await openMcpServer()
  })
  after(async () => {
    mcp.server.closeAllConnections()
    mcp.server.close()
    await browser.close()
    await service.close()
  })
  const at = (path: string) => `${service.base}/console/${path}`
  const makeVault = async (name: string) =>
    (await service.ask('POST', '/v1/vaults', { display_name: name })).body.id
  const makeCredential = async (vault: string, display_name: string, auth: object) =>
    (await service.ask('POST', `/v1/vaults/${vault}/credentials`, { display_name, auth })).body.id
  const signedIn = (): Promise<Visit> => browser.visit(service.base, { key: adminKey })

  void it('leads from no vault to a vault with a credential, and no page shows the secret', async () => {
    const visit = await signedIn()
    const { page } = visit
    await page.goto(at('vaults'))
    await page.getByText('No vault yet.').waitFor(patience)
    await page.getByRole('button', { name: 'New vault' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('production')
    await page.getByRole('dialog').getByText("display_name: 'production'").waitFor(patience)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'production' }).waitFor(patience)
    await page.getByRole('link', { name: 'Add a credential' }).first().click()
    await page.getByLabel('What it is for').click()
    await page.getByRole('option', { name: /environment_variable/ }).click()
    await page.getByLabel('Variable').fill('PATH')
    await page.getByRole('textbox', { name: 'Secret' }).fill('a very secret value')
    await page
      .getByRole('textbox', { name: 'Hosts' })
      .fill('api.example.com, https://other.example')
    const add = page.getByRole('button', { name: 'Add a credential' })
    await add.click()
    const variable = page.getByRole('alert').filter({ hasText: 'is reserved' })
    await variable.waitFor(patience)
    await page.getByRole('alert').filter({ hasText: 'must be a hostname' }).waitFor(patience)
    await page.getByLabel('Variable').fill('API_TOKEN')
    await page.getByRole('textbox', { name: 'Hosts' }).fill('api.example.com')
    await page.getByText("secret_value: '…'").waitFor(patience)
    await add.click()
    await page.getByRole('heading', { name: 'API_TOKEN' }).waitFor(patience)
    await page.getByText('No call has carried it yet.').waitFor(patience)
    assert.match(page.url(), /credential=vcrd_/)
    const shown = await page.evaluate<string>('document.documentElement.outerHTML')
    assert.ok(!shown.includes('a very secret value'))
    const [vault] = (await service.ask('GET', '/v1/vaults')).body.data
    const { body } = await service.ask('GET', `/v1/vaults/${vault?.id}/credentials`)
    assert.deepEqual(
      body.data.map(({ auth }) => auth),
      [
        {
          type: 'environment_variable',
          secret_name: 'API_TOKEN',
          networking: { type: 'limited', allowed_hosts: ['api.example.com'] },
          injection_location: { header: true, body: true },
        },
      ],
    )
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('says step by step what the validation of a credential found, and validates the credential that replaces it', async () => {
    const vault = await makeVault('shops')
    const auth = { type: 'mcp_oauth', mcp_server_url: mcp.url, access_token: 'revoked' }
    const credential = await makeCredential(vault, 'shop', auth)
    const visit = await signedIn()
    const { page } = visit
    await page.goto(at(`vaults/${vault}?credential=${credential}`))
    const pane = page.getByRole('region', { name: 'shop' })
    await pane.getByRole('button', { name: 'Validate' }).click()
    await pane.getByText('refused, 401').waitFor(patience)
    await pane.getByText('no refresh token').waitFor(patience)
    await pane.getByText('The server does not take it.').waitFor(patience)
    await pane.getByText('<b>today</b>').waitFor(patience)
    await pane.getByRole('button', { name: 'Rotate' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Access token', { exact: true }).fill(good)
    await dialog.getByText("access_token: '…'").waitFor(patience)
    await dialog.getByRole('button', { name: 'Rotate the secret' }).click()
    await pane.getByText('The credential works.').waitFor(patience)
    await pane.getByText('rotated').waitFor(patience)
    const { body } = await service.ask(
      'GET',
      `/v1/ext/audit/credential_changes?credential_id=${credential}`,
    )
    assert.deepEqual(
      body.data.map(({ change }) => change),
      ['credential.rotated', 'credential.created'],
    )
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('changes where a secret goes, and asks before it archives and deletes', async () => {
    const vault = await makeVault('deploys')
    const auth = {
      type: 'command_secret',
      token: 'x',
      env_var: 'KEY',
      command_prefixes: ['deploy'],
    }
    const credential = await makeCredential(vault, 'deployer', auth)
    const path = `/v1/vaults/${vault}/credentials/${credential}`
    const visit = await signedIn()
    const { page } = visit
    await page.goto(at(`vaults/${vault}`))
    await page.getByRole('link', { name: 'deployer' }).click()
    const pane = page.getByRole('region', { name: 'deployer' })
    await pane.getByText('visible inside of the sandbox').waitFor(patience)
    await pane.getByRole('button', { name: 'Change' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Commands that have it').fill('deploy\nnpm publish')
    await dialog.getByRole('button', { name: 'Save the changes' }).click()
    await pane.getByText('deploy, npm publish').waitFor(patience)
    const { auth: changed } = (await service.ask('GET', path)).body
    assert.deepEqual(changed, {
      ...{ type: 'command_secret', env_var: 'KEY', command_prefixes: ['deploy', 'npm publish'] },
    })
    await pane.getByRole('button', { name: 'Archive' }).click()
    await dialog.getByRole('button', { name: 'Archive the credential' }).click()
    await page.getByText('deployer was archived.').waitFor(patience)
    assert.notEqual((await service.ask('GET', path)).body['archived_at'], null)
    await page.getByRole('button', { name: 'More to do' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete the vault' }).click()
    await page.getByRole('heading', { name: 'Vaults' }).waitFor(patience)
    assert.equal((await service.ask('GET', `/v1/vaults/${vault}`)).status, 404)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is off for a viewer, with the reason', async () => {
    const vault = await makeVault('read only')
    const auth = { type: 'cap_cli', cli_id: 'gh', token: 'x' }
    const credential = await makeCredential(vault, 'github', auth)
    const visit = await visitAsViewer(browser, service)
    const { page } = visit
    await page.goto(at(`vaults/${vault}?credential=${credential}`))
    const reason = 'A viewer reads and changes nothing'
    const pane = page.getByRole('region', { name: 'github' })
    for (const name of ['Validate', 'Rotate', 'Change', 'Archive', 'Delete']) {
      const button = pane.getByRole('button', { name })
      await button.and(page.getByTitle(reason)).waitFor(patience)
      assert.equal(await button.getAttribute('aria-disabled'), 'true')
    }
    await page.goto(at('vaults'))
    await page.getByRole('button', { name: 'New vault' }).and(page.getByTitle(reason)).waitFor()
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('has no barrier, in both themes and on a phone', async () => {
    const vault = await makeVault('looked at')
    const auth = { type: 'static_bearer', token: 'x', mcp_server_url: 'https://mcp.example.com' }
    const credential = await makeCredential(vault, 'tracker', auth)
    await assertNoBarriers(browser, service.base, [
      ['vaults', 'looked at'],
      [`vaults/${vault}`, 'tracker'],
      [`vaults/${vault}?credential=${credential}`, 'What was done to it'],
      [`vaults/${vault}/new`, 'Address of the MCP server'],
    ])
  })
})
