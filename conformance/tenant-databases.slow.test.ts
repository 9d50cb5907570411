/** The operator's and the caller's view of a service with a database for each workspace. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { DeploymentRun } from '@steward/protocol/deployments.ts'
import { readConfig } from '@steward/server/ground/config/config.ts'
import type { Config } from '@steward/server/ground/config/config.ts'
import type { Database } from '@steward/server/ground/database/database.ts'
import { oneDatabase } from '@steward/server/ground/database/database.ts'
import { createSqliteFile, newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import type { RunningServer } from '@steward/server/start/start.ts'
import { databaseCheck } from '@steward/server/start/checks/database.ts'
import { moveWorkspaces } from '@steward/server/start/commands/move-workspaces.ts'
import {
  backUpWorkspace,
  restoreWorkspaceFrom,
} from '@steward/server/start/commands/workspace-copies.ts'
import { startService } from '@steward/server/start/start.ts'
import { createServerSeal } from '@steward/server/start/storage.ts'
import { createWorkspace } from '@steward/server/tenants/workspaces/create.ts'
import { deleteWorkspace } from '@steward/server/tenants/workspaces/delete.ts'
import { databases } from './service.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

for (const database of databases) {
  describe(`a database for each workspace on ${database}`, () => {
    const workspaces = ['one', 'two']
    const keys = new Map<string, string>()
    const ids = new Map<string, string>()
    let folder = ''
    let url: string | undefined
    let running: RunningServer | undefined
    /** The control database of the server that started last. */
    let control: Database | undefined

    function configOf(isPerTenant: boolean): Config {
      const read = readConfig({
        PORT: '0',
        DATA_DIR: folder,
        PLATFORM_ROOT_SECRET: 'a root secret for tests',
        RATE_LIMITS: 'off',
        EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
        EGRESS_TENANT_TARGETS: '127.0.0.0/8:*',
        SANDBOX_PROVIDER: 'local',
        EGRESS_PROFILE: 'disabled',
        PER_TENANT_DB_ENABLED: String(isPerTenant),
        ...(url !== undefined && { DATABASE_URL: url }),
      })
      if (!read.ok) throw new Error(read.problems.join())
      return read.config
    }

    async function open(isPerTenant: boolean): Promise<Database> {
      running = await startService(configOf(isPerTenant), silent, {
        database: (built) => (control = built),
      })
      assert.ok(control)
      return control
    }

    async function remove(name: string): Promise<void> {
      const id = ids.get(name) ?? ''
      await control?.write(async (tx) => {
        const archived_at = '2030-01-01T00:00:00.000Z'
        await tx.updateTable('workspaces').set({ archived_at }).where('id', '=', id).execute()
        await deleteWorkspace(tx, { id, confirm: id, now: systemClock.now() })
      })
    }

    async function stop(): Promise<void> {
      await running?.close()
      running = undefined
    }

    async function ask(workspace: string, path: string, body?: object) {
      const answer = await fetch(`http://127.0.0.1:${running?.port}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { 'x-api-key': keys.get(workspace) ?? '', 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: answer.status, text: await answer.text() }
    }

    const put = (workspace: string, name: string) =>
      ask(workspace, '/v1/vaults', { display_name: name })
    const list = (workspace: string) => ask(workspace, '/v1/vaults')

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'steward-conformance-'))
      if (database === 'postgres') url = await newPostgresUrl()
      else await createSqliteFile(folder)
      const shared = await open(false)
      for (const name of workspaces) {
        const deps = { databases: oneDatabase(shared), clock: systemClock }
        const made = await createWorkspace(deps, name)
        keys.set(name, made.key)
        ids.set(name, made.workspace)
        await put(name, `canary-of-${name}`)
      }
      await stop()
    })

    after(async () => {
      await stop()
      await rm(folder, { recursive: true, force: true })
    })

    verifies(
      ['settings/per-tenant-db', 'tenant-databases/refused', 'tenant-databases/moved'],
      'a server starts where the rows are, and a command moves them there',
      async () => {
        await open(false)
        const before = await list('one')
        await stop()
        await assert.rejects(startService(configOf(true), silent), /move-databases --to tenants/)
        assert.equal(await moveWorkspaces(configOf(true), 'tenants', () => {}), true)
        await assert.rejects(startService(configOf(false), silent), /move-databases --to one/)
        await open(true)
        assert.deepEqual(await list('one'), before)
        assert.match(before.text, /canary-of-one/)
      },
    )

    verifies('tenant-databases/apart', 'each workspace has its rows in its own', async () => {
      assert.equal((await put('two', 'a second canary-of-two')).status, 200)
      assert.ok(!(await list('one')).text.includes('canary-of-two'))
      if (database === 'postgres') return
      await stop()
      const hosts = join(folder, 'tenants')
      for (const name of await readdir(hosts)) {
        const bytes = await readFile(join(hosts, name))
        assert.equal(bytes.includes('canary-of-two'), name === `${ids.get('two')}.db`, name)
      }
      const ofServer = await readFile(join(folder, 'steward.db'))
      assert.ok(!ofServer.includes('canary-of-two'))
      await open(true)
    })

    verifies(
      'tenant-databases/backup',
      'a workspace is backed up beside the server, and is as it was when it is put back',
      async () => {
        const path = join(folder, 'two.jsonl')
        const writes = Array.from({ length: 10 }, (_, n) => put('two', `during ${n}`))
        await backUpWorkspace(configOf(true), 'two', { path })
        await Promise.all(writes)
        await put('two', 'written later')
        await stop()
        await restoreWorkspaceFrom(configOf(true), path)
        await open(true)
        const { text } = await list('two')
        assert.match(text, /a second canary-of-two/)
        assert.ok(!text.includes('written later'))
      },
    )

    verifies(
      'secrets/workspace-key',
      'secrets of a deleted workspace open from no backup but one with its key',
      async () => {
        const card = { model_id: 'm', provider: 'oai-compatible', model: 'm', api_key: 'sk-of-two' }
        const made = await ask('two', '/v1/ext/model_cards', {
          ...card,
          base_url: 'http://127.0.0.1:9/v1',
        })
        assert.equal(made.status, 200, made.text)
        const at = `/v1/ext/model_cards/${(JSON.parse(made.text) as { id: string }).id}`
        const rename = () => ask('two', at, { model: 'another' })
        assert.equal((await rename()).status, 200)
        const path = (name: string) => join(folder, `${name}.jsonl`)
        await backUpWorkspace(configOf(true), 'two', { path: path('without') })
        await backUpWorkspace(configOf(true), 'two', { path: path('with'), isWithKey: true })
        await remove('two')
        await stop()
        const without = await restoreWorkspaceFrom(configOf(true), path('without'))
        assert.equal(without.opens, false)
        await open(true)
        const refused = await rename()
        assert.equal(refused.status, 409, refused.text)
        assert.match(refused.text, /give the secret anew/)
        await stop()
        const restored = await restoreWorkspaceFrom(configOf(true), path('with'))
        assert.equal(restored.opens, true)
        await open(true)
        assert.equal((await rename()).status, 200)
      },
    )

    verifies(
      'tenant-databases/schedules',
      'a schedule of a workspace runs at its time, also after a restart',
      async () => {
        const make = async (path: string, body: object) => {
          const { status, text } = await ask('two', path, body)
          assert.equal(status, 200, text)
          return JSON.parse(text) as { id: string }
        }
        const agent = await make('/v1/agents', { name: 'a', model: 'offline', tools: [] })
        const at = Math.ceil(Date.now() / 1000) + 3
        await make('/openai/v1/agents/automations', {
          ...{ type: 'once', name: 'once', run_at: at },
          target: {
            ...{ type: 'new_session', agent_id: agent.id, environment: { type: 'none' } },
            input: [{ role: 'user', content: [{ type: 'input_text', text: 'say: a' }] }],
          },
        })
        await stop()
        await open(true)
        let runs: DeploymentRun[] = []
        await until(async () => {
          const { text } = await ask('two', '/v1/deployment_runs')
          runs = (JSON.parse(text) as { data: DeploymentRun[] }).data
          return runs.length > 0
        })
        const [run] = runs
        assert.equal(run?.error, null)
        const late = Date.parse(run.created_at) / 1000 - at
        assert.ok(late < 15, `it started ${late} s after its time`)
        await until(async () => {
          const { text } = await ask('two', `/v1/sessions/${run.session_id}`)
          return (JSON.parse(text) as { status: string }).status === 'idle'
        })
      },
    )

    if (database === 'sqlite')
      verifies(
        'tenant-databases/set-aside',
        'a damaged file harms the workspace that has it, and no other',
        async () => {
          await stop()
          const file = join(folder, 'tenants', `${ids.get('one')}.db`)
          for (const name of [`${file}-wal`, `${file}-shm`]) await rm(name, { force: true })
          await writeFile(file, 'no database'.repeat(5_000))
          const found: string[] = []
          await databaseCheck(configOf(true), createServerSeal(configOf(true)))().then(
            (findings) => {
              for (const each of [findings].flat()) found.push(`${each.state} ${each.about}`)
            },
          )
          assert.ok(found.includes('ok databases of workspaces: 1 of 2 can be read'), found.join())
          assert.match(
            found.join(),
            new RegExp(`failed database of ${ids.get('one')}: .*not a database`),
          )
          await open(true)
          const refused = await list('one')
          assert.equal(refused.status, 503)
          assert.match(refused.text, /the database of this workspace cannot be opened/)
          assert.equal((await list('two')).status, 200)
          assert.equal((await fetch(`http://127.0.0.1:${running?.port}/readyz`)).status, 200)
        },
      )
  })
}
