/** The deletion of a workspace that has one of every noun. Nothing of the workspace is found anywhere afterwards. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { postFile } from '../files.ts'
import { tablesIn } from '@steward/server/ground/database/tables.ts'
import type { PersonClient } from '../people.ts'
import { accept, firstLink } from '../people.ts'
import type { ServiceClients, TestService } from '../service.ts'
import { boot, clientsOf, scenarioDatabases } from '../service.ts'
import { fresh, message, post, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type DeletionRefusal = { error: { message: string } }
type DeletedWorkspace = {
  id: string
  name: string
  canary: string
  key: string
  keyId: string
  client: ServiceClients
}

const path = '/v1/organizations/workspaces'
/** Tables that keep the id of a deleted workspace, so that data which arrives later is removed too. */
const kept = ['workspace_removals']

const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }

/** True for audit lines of the deployment. They name who created and who deleted the workspace, and no contents. */
const isOfDeployment = (row: object): boolean =>
  'tenant_id' in row &&
  row.tenant_id === '' &&
  'action' in row &&
  (row.action === 'workspace.create' || row.action === 'workspace.delete')

/** Returns every row that contains any of the words, with its table. */
async function rowsWith(
  { database }: TestService,
  words: readonly string[],
  isOwn: boolean,
): Promise<string[]> {
  const found: string[] = []
  for (const { name } of await database.read.introspection.getTables()) {
    if (kept.includes(name)) continue
    // The database of a workspace is removed with its files.
    if (isOwn && tablesIn('tenant').some((table) => table === name)) continue
    const rows = await database.read
      .selectFrom(name as 'settings')
      .selectAll()
      .execute()
    for (const row of rows) {
      const text = JSON.stringify(row)
      if (name === 'audit_lines' && isOfDeployment(row)) continue
      if (words.some((word) => text.includes(word))) found.push(`${name}: ${text.slice(0, 200)}`)
    }
  }
  return found
}

/**
 * Returns every file and folder with any of the words in its name or bytes. Files of the database are checked by name
 * only.
 */
async function filesWith(folder: string, words: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const isNamed = words.some((word) => path.includes(word))
    const isRead = entry.isFile() && !entry.name.startsWith('steward.db')
    const bytes = isRead ? await readFile(path, 'latin1') : ''
    if (isNamed || words.some((word) => bytes.includes(word))) found.push(path)
  }
  return found
}

const shapes = [
  ...scenarioDatabases(import.meta.filename).map((database) => ({ database, isOwn: false })),
  { database: 'sqlite' as const, isOwn: true },
]

for (const { database, isOwn } of shapes) {
  const shape = isOwn ? ' with a database of its own' : ''
  describe(`the deletion of a workspace${shape} on ${database}`, () => {
    let service: TestService
    let owner: PersonClient
    let doomed: DeletedWorkspace
    let neighbour: DeletedWorkspace
    const at = (id: string) => ({ 'anthropic-workspace-id': id })

    async function newWorkspace(name: string): Promise<DeletedWorkspace> {
      const { body } = await owner.ask<{ id: string }>('POST', path, { name })
      const made = await owner.ask<{ id: string; key: string }>(
        'POST',
        '/v1/ext/api_keys',
        { name, admin: true },
        at(body.id),
      )
      const { key, id: keyId } = made.body
      const canary = `canary-${crypto.randomUUID()}`
      return { id: body.id, name, canary, key, keyId, client: clientsOf(service.base, key) }
    }

    /** Creates one of every noun. Returns a session that runs until somebody answers or interrupts it. */
    async function fill({ id, canary, client, key }: DeletedWorkspace): Promise<string> {
      const make = async (path: string, body: object): Promise<string> => {
        const { status, body: made } = await client.ask('POST', path, body, beta)
        assert.ok(status < 300, `${path}: ${JSON.stringify(made)}`)
        return made.id
      }
      const vault = await make('/v1/vaults', {
        name: canary,
        credentials: [
          {
            auth: {
              type: 'static_bearer',
              token: `sk-${canary}`,
              mcp_server_url: 'https://mcp.example/mcp',
            },
          },
        ],
      })
      await make('/v1/ext/model_cards', {
        model_id: canary,
        provider: 'openrouter',
        model: 'm',
        api_key: `sk-${canary}`,
      })
      await make('/v1/ext/webhook_endpoints', {
        url: 'https://hooks.example/in',
        description: canary,
        enabled_events: ['*'],
      })
      const head = '---\nname: notes\ndescription: how we do it\n---\n'
      const files = [{ filename: 'notes/SKILL.md', content: head + canary }]
      const skill_id = await make('/v1/skills', { files })
      const memory_store_id = await make('/v1/memory_stores', { name: canary })
      await make(`/v1/memory_stores/${memory_store_id}/memories`, {
        path: '/note',
        content: canary,
      })
      const uploaded = await postFile(service, { content: canary, headers: { 'x-api-key': key } })
      const file_id = ((await uploaded.json()) as { id: string }).id
      const environment_id = await make('/v1/environments', { name: canary })
      const agent = await make('/v1/agents', {
        name: canary,
        model: 'offline',
        tools: [{ type: 'agent_toolset_20260401' }],
        skills: [{ type: 'custom', skill_id, version: 'latest' }],
      })
      await make('/v1/ext/invitations', { role: 'member', email: `${canary}@example.com` })
      const limits = { limits: [{ type: 'reads', value: 1 }] }
      await owner.ask('POST', `${path}/${id}/rate_limits/reads`, limits)
      const resources = [
        { type: 'memory_store', memory_store_id },
        { type: 'file', file_id },
      ]
      const deployment = await make('/v1/deployments', {
        ...{ name: canary, agent, environment_id },
        initial_events: [message(`say: ${canary}`)],
        schedule: { type: 'cron', expression: '0 9 * * *', timezone: 'UTC' },
      })
      await make(`/v1/ext/deployments/${deployment}/trigger_secret`, {})
      await make(`/v1/deployments/${deployment}/run`, {})
      const whole = { agent, environment_id, vault_ids: [vault], resources, title: canary }
      const session = await make('/v1/sessions', whole)
      await turn(
        client,
        session,
        `run: echo ${canary} > /mnt/session/outputs/${canary}.txt; echo ${canary} > here`,
      )
      const running = await make('/v1/sessions', { ...whole, resources: [] })
      await client.client.beta.sessions.events.send(running, {
        events: [message(`run: echo ${canary} > here; sleep 600`)],
      })
      await post(client, running, `say: ${canary} ${'x'.repeat(300_000)}`)
      return running
    }

    before(async () => {
      service = await boot(database, {
        env: { PER_TENANT_DB_ENABLED: String(isOwn) },
      })
      owner = await accept(service, firstLink(service), { email: 'ada@example.com' })
      doomed = await newWorkspace(fresh('doomed'))
      neighbour = await newWorkspace(fresh('neighbour'))
    })
    after(() => service.close())

    const remove = (confirm?: string) =>
      owner.ask<DeletionRefusal>(
        'DELETE',
        `${path}/${doomed.id}${confirm === undefined ? '' : `?confirm=${encodeURIComponent(confirm)}`}`,
      )

    verifies(
      [
        'organization/workspaces/delete',
        'organization/workspaces/delete/confirmed',
        'organization/workspaces/delete/at-once',
        'organization/workspaces/delete/nothing-left',
      ],
      'no row remains of a deleted workspace that had one of every noun, and its neighbour is unharmed',
      async () => {
        await fill(neighbour)
        const running = await fill(doomed)
        const words = [doomed.id, doomed.canary]
        const { client } = doomed.client
        await until(async () => {
          const { status } = await client.beta.sessions.retrieve(running)
          return status === 'running'
        })
        const stream = await client.beta.sessions.events.stream(running)
        assert.equal((await remove(doomed.name)).status, 409)
        const archived = await owner.ask('POST', `${path}/${doomed.id}/archive`)
        assert.equal(archived.status, 200)
        assert.equal((await remove()).status, 400)
        assert.equal((await remove(neighbour.name)).status, 400)
        const byKey = await doomed.client.ask('DELETE', `${path}/${doomed.id}?confirm=x`)
        assert.equal(byKey.status, 401)
        const deleted = await remove(doomed.name)
        assert.deepEqual(deleted.body, { id: doomed.id, type: 'workspace_deleted' })
        for await (const _event of stream);
        assert.equal((await remove(doomed.name)).status, 404)
        assert.equal((await doomed.client.ask('GET', '/v1/agents')).status, 401)
        assert.equal((await owner.ask('GET', '/v1/agents', undefined, at(doomed.id))).status, 403)

        await until(() =>
          service.logged.some((line) => line.includes('a deleted workspace was removed')),
        )
        assert.deepEqual(await rowsWith(service, words, isOwn), [])
        assert.deepEqual(await filesWith(service.dataDir, words), [])
        const lines = await service.database.read
          .selectFrom('audit_lines')
          .selectAll()
          .where('resource_id', '=', doomed.id)
          .execute()
        assert.deepEqual(lines.map(({ action }) => action).toSorted(), [
          'workspace.create',
          'workspace.delete',
        ])
        assert.ok(!JSON.stringify(lines).includes(doomed.canary))
        const others = [neighbour.id, neighbour.canary]
        assert.ok((await rowsWith(service, others, isOwn)).length > (isOwn ? 3 : 20))
        assert.ok((await filesWith(service.dataDir, others)).length > 3)
        const { body } = await neighbour.client.ask('GET', '/v1/sessions')
        assert.equal(body.data.length, 3)
        for (const { id } of body.data) await post(neighbour.client, id, { type: 'user.interrupt' })
      },
    )
  })
}
