import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { TestService } from '../service.ts'
import { adminKey, boot } from '../service.ts'
import type { TestBrowser } from './browser.ts'
import { assertNoBarriers, assertNoFaults, buildConsole, openBrowser, patience } from './browser.ts'
import { makeAgent, makeSession, visitAs } from './workspace.ts'

void describe('environments in a browser', () => {
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
  const named = async (name: string) => {
    const { body } = await service.ask('GET', '/v1/environments?include_archived=true')
    const found = body.data.find((each) => each['name'] === name)
    assert.ok(found, `no environment is named ${name}`)
    return found
  }
  const make = async (name: string, more: object = {}) =>
    (await service.ask('POST', '/v1/environments', { name, ...more })).body.id

  void it('is made of hosts, packages and variables, and changed, refusals under their field', async () => {
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('environments'))
    await page.getByText('No environment yet').waitFor(patience)
    await page.getByRole('link', { name: 'New environment' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('python')
    await page.getByRole('combobox', { name: 'Network' }).click()
    await page.getByRole('option', { name: 'named hosts alone' }).click()
    const host = page.getByLabel('Hosts that are reached: Name of a host')
    await host.fill('https://api.example.com')
    await page.keyboard.press('Enter')
    await page.getByLabel('Names of packages').fill('rich==14.0.0 httpx')
    await page.keyboard.press('Enter')
    await page.getByLabel('Name of the variable').fill('TZ')
    await page.getByLabel('Value of the variable').fill('UTC')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Create the environment' }).click()
    const hosts = page.getByRole('group', { name: 'Hosts that are reached' })
    await hosts.getByRole('alert').getByText('must be a hostname').waitFor(patience)
    await page.getByTitle('Remove https://api.example.com').click()
    await host.fill('api.example.com, *.example.org')
    await page.keyboard.press('Enter')
    await page.getByRole('checkbox', { name: 'MCP servers too' }).click()
    await page
      .getByLabel('What will be sent')
      .getByText('beta.environments.create')
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Create the environment' }).click()
    await page.getByRole('heading', { name: 'python' }).waitFor(patience)
    const made = await named('python')
    assert.deepEqual(made['env'], { TZ: 'UTC' })
    const { networking, packages } = made['config'] as { networking: object; packages: object }
    assert.deepEqual(networking, {
      type: 'limited',
      allowed_hosts: ['api.example.com', '*.example.org'],
      allow_mcp_servers: true,
      allow_package_managers: false,
    })
    assert.deepEqual(Object.entries(packages).find(([name]) => name === 'pip')?.[1], [
      'rich==14.0.0',
      'httpx',
    ])
    await page.getByText('Nothing was changed.').waitFor(patience)
    for (const name of ['rich==14.0.0', 'httpx', 'TZ'])
      await page.getByTitle(`Remove ${name}`).click()
    await page.getByLabel('Base image').fill('debian:13')
    await page.getByText('3 fields differ').waitFor(patience)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('python was saved.').waitFor(patience)
    const saved = await named('python')
    assert.deepEqual([saved['env'], saved['base_image']], [{}, 'debian:13'])
    const { packages: left, networking: kept } = saved['config'] as {
      packages: { pip: string[] }
      networking: object
    }
    assert.deepEqual([left.pip, kept], [[], networking])
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('says that a name is taken under the name, and follows what is written as YAML', async () => {
    await make('taken')
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at('environments/new'))
    await page.getByLabel('Name', { exact: true }).fill('taken')
    await page.getByRole('button', { name: 'Create the environment' }).click()
    const name = page.getByLabel('Name', { exact: true })
    await page.getByText('an environment named taken exists already').waitFor(patience)
    assert.equal(await name.getAttribute('aria-invalid'), 'true')
    await page.getByRole('tab', { name: 'YAML' }).click()
    const editor = page.locator('.cm-content')
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('name: by-hand\nconfig: {type: self_hosted}')
    await page
      .getByRole('radio', { name: 'on machines of your own', checked: true })
      .waitFor(patience)
    await page.getByRole('button', { name: 'Create the environment' }).click()
    await page.getByRole('heading', { name: 'by-hand' }).waitFor(patience)
    await page.getByRole('tab', { name: 'Workers' }).waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('shows what waits for workers, and a key once, in the command that uses it', async () => {
    const environment = await make('gpu-pool', { config: { type: 'self_hosted' } })
    const agent = await makeAgent(service, 'trainer')
    const session = await makeSession(service, {
      ...{ agent, environment, title: 'train the ranker', message: 'run: ls' },
    })
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`environments/${environment}`))
    await page.getByText('no worker asks for them').waitFor(patience)
    await page.getByLabel('Name of the key').fill('gpu-01')
    await page.keyboard.press('Enter')
    const shown = page.getByRole('region', { name: 'Start a worker with gpu-01' })
    await shown.getByText('No worker asks for work yet').waitFor(patience)
    const command = (await shown.locator('pre').textContent()) ?? ''
    const key = /^export WORKER_ENVIRONMENT_KEY=(stw_env_\S+)$/m.exec(command)?.[1] ?? ''
    assert.match(command, new RegExp(`^export WORKER_BASE_URL=${service.base}$`, 'm'))
    assert.match(command, new RegExp(`^export WORKER_ENVIRONMENT_ID=${environment}$`, 'm'))
    const polled = await fetch(`${service.base}/v1/environments/${environment}/work/poll`, {
      headers: { authorization: `Bearer ${key}`, 'anthropic-worker-id': 'gpu-01' },
    })
    assert.equal(polled.status, 200)
    await shown.getByText('A worker asks for work').waitFor(patience)
    await shown.getByRole('button', { name: 'I have it' }).click()
    await shown.waitFor({ state: 'detached', ...patience })
    assert.ok(!(await page.content()).includes(key), 'the key is still on the page')
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('No key yet').waitFor(patience)
    const { body } = await service.ask('GET', `/v1/ext/api_keys?environment_id=${environment}`)
    assert.deepEqual(body.data, [])
    await page.getByRole('tab', { name: 'Sessions' }).click()
    await page.getByRole('link', { name: 'train the ranker' }).click()
    await page.waitForURL(new RegExp(`sessions/${session}`), patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is archived and deleted after a question, and says why the service refuses', async () => {
    const environment = await make('old')
    const agent = await makeAgent(service, 'resident')
    await makeSession(service, { agent, environment, title: 'lives here' })
    const visit = await browser.visit(service.base, { key: adminKey })
    const { page } = visit
    await page.goto(at(`environments/${environment}`))
    const more = page.getByRole('button', { name: 'More to do' })
    const dialog = page.getByRole('dialog')
    await more.click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete the environment' }).click()
    await dialog.getByRole('alert').waitFor(patience)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await more.click()
    await page.getByRole('menuitem', { name: 'Archive' }).click()
    await dialog.getByRole('button', { name: 'Archive the environment' }).click()
    await page.getByRole('heading', { name: 'Environments' }).waitFor(patience)
    assert.notEqual((await named('old'))['archived_at'], null)
    await page
      .getByRole('link', { name: 'old', exact: true })
      .waitFor({ state: 'detached', ...patience })
    await page.getByRole('checkbox', { name: 'Archived too' }).click()
    await page.getByRole('link', { name: 'old', exact: true }).click()
    await page.getByText('This environment is archived').waitFor(patience)
    assertNoFaults(visit)
    await visit.context.close()
  })

  void it('is read by viewers, and keys are made by admins: buttons say so', async () => {
    const environment = await make('read-only', { config: { type: 'self_hosted' } })
    const reasons = [
      ['viewer', 'A viewer reads and changes nothing'],
      ['member', 'Only admins and owners of the workspace may do this'],
    ] as const
    for (const [role, reason] of reasons) {
      const visit = await visitAs(service, browser, role)
      const { page } = visit
      await page.goto(at(`environments/${environment}`))
      await page.getByRole('button', { name: 'Make a key' }).waitFor(patience)
      await page.getByTitle(reason).filter({ hasText: 'Make a key' }).waitFor(patience)
      assertNoFaults(visit)
      await visit.context.close()
    }
  })

  void it('has no barrier in either theme', async () => {
    const environment = await make('seen', { config: { type: 'self_hosted' } })
    const cloud = await make('also-seen', { env: { TZ: 'UTC' } })
    const paths = ['', '/new', `/${environment}`, `/${cloud}`]
    await assertNoBarriers(
      browser,
      service,
      paths.map((path) => `environments${path}`),
    )
  })
})
