import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, it } from 'node:test'
import { readConfig } from '../../ground/config/config.ts'
import type { Config } from '../../ground/config/config.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { createSqliteFile } from '../../ground/database/fixture.ts'
import { addWorkspace } from '../../ground/database/per-tenant/fixture.ts'
import { putShape, readDatabaseShape } from '../../ground/database/per-tenant/database-shape.ts'
import { sqliteDatabase } from '../../ground/database/sqlite.ts'
import { verifyAudit } from './audit.ts'
import { moveWorkspaces } from './move-workspaces.ts'
import { backUpWorkspace, restoreWorkspaceFrom } from './workspace-copies.ts'

type Deployment = AsyncDisposable & {
  config: Config
  folder: string
  /** Opens the control database while nothing else uses it. */
  control: <T>(work: (control: Database) => Promise<T>) => Promise<T>
}

async function deploy(): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
  const path = await createSqliteFile(folder)
  const read = readConfig({
    DATA_DIR: folder,
    PLATFORM_ROOT_SECRET: 'a root secret for tests',
    PER_TENANT_DB_ENABLED: 'true',
  })
  if (!read.ok) throw new Error(read.problems.join())
  return {
    config: read.config,
    folder,
    async control(work) {
      const control = await sqliteDatabase(path)
      try {
        return await work(control)
      } finally {
        await control.close()
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

const put = (tx: Queries, name: string, value: string) =>
  tx.insertInto('settings').values({ name, value }).execute()

const waitingLine = (tenant: string) => ({
  ...{ tenant_id: tenant, id: 'aud_1', action: 'key.create', resource_type: 'key' },
  ...{ actor_type: 'operator', credential_type: 'command', created_at: '', seq: null },
})

describe('commands over all rows of workspaces', () => {
  it('end a move that was killed when the file was deleted and control did not know it', async () => {
    await using at = await deploy()
    await at.control(async (control) => {
      await addWorkspace(control, 'wrkspc_a')
      await control.write(async (tx) => {
        await putShape(tx, 'moving')
        await put(tx, 'database_move', 'one cleaning ')
        const known = { tenant_id: 'wrkspc_a', created_at: '', woken_ms: 0, due_ms: 0 }
        await tx.insertInto('tenant_databases').values(known).execute()
        await tx.insertInto('audit_lines').values(waitingLine('wrkspc_a')).execute()
      })
    })
    assert.equal(await moveWorkspaces(at.config, 'one', () => {}), true)
    await at.control(async (control) => {
      assert.equal(await readDatabaseShape(control), 'one')
      const own = control.read.selectFrom('audit_lines').where('tenant_id', '=', 'wrkspc_a')
      const lines = await own.select('id').execute()
      assert.deepEqual(
        lines.map(({ id }) => id),
        ['aud_1'],
      )
    })
  })

  it('verify the audit where nobody has used a workspace yet', async () => {
    await using at = await deploy()
    await at.control(async (control) => {
      await addWorkspace(control, 'wrkspc_unused')
      await control.write((tx) => putShape(tx, 'tenants'))
    })
    const found: string[] = []
    const out = new Writable({
      write(text: Buffer, _, done) {
        found.push(text.toString())
        done()
      },
    })
    assert.equal(await verifyAudit(at.config, {}, out), true)
    assert.equal(found.length, 1)
  })

  it('write a line of the audit of a move, once it is made', async () => {
    await using at = await deploy()
    await at.control((control) => control.write((tx) => putShape(tx, 'one')))
    assert.equal(await moveWorkspaces(at.config, 'tenants', () => {}), true)
    assert.equal(await moveWorkspaces(at.config, 'tenants', () => {}), false)
    const lines = await at.control(({ read }) =>
      read.selectFrom('audit_lines').select(['action', 'actor_type', 'after_fields']).execute(),
    )
    assert.deepEqual(
      [{ ...lines[0] }, lines.length],
      [{ action: 'databases.move', actor_type: 'operator', after_fields: '{"to":"tenants"}' }, 1],
    )
  })

  it('write a line of the audit of who copied a workspace, and who restored it', async () => {
    await using at = await deploy()
    await at.control((control) => addWorkspace(control, 'wrkspc_a'))
    const path = join(at.folder, 'a.jsonl')
    await backUpWorkspace(at.config, 'wrkspc_a', { path })
    await restoreWorkspaceFrom(at.config, path)
    const lines = await at.control(({ read }) =>
      read
        .selectFrom('audit_lines')
        .select(['action', 'resource_id', 'actor_type'])
        .where('tenant_id', '=', '')
        .orderBy('id')
        .execute(),
    )
    const said = lines.map(({ action, resource_id, actor_type }) =>
      [action, resource_id, actor_type].join(' '),
    )
    assert.deepEqual(said, [
      'workspace.backup wrkspc_a operator',
      'workspace.restore wrkspc_a operator',
    ])
  })

  it('back up after a killed backup, and remove only the file of that backup', async () => {
    await using at = await deploy()
    await at.control((control) => addWorkspace(control, 'wrkspc_a'))
    const path = join(at.folder, 'a.jsonl')
    const [left, running] = [`${path}.new`, `${path}.1.new`]
    for (const name of [left, running]) await writeFile(name, 'half')
    await utimes(left, 0, 0)
    await backUpWorkspace(at.config, 'wrkspc_a', { path })
    const names = (await readdir(at.folder)).filter((name) => name.includes('.jsonl'))
    assert.deepEqual(names.toSorted(), ['a.jsonl', 'a.jsonl.1.new'])
  })

  it('put back no file with a line that would fill the memory', async () => {
    await using at = await deploy()
    const path = join(at.folder, 'a.jsonl')
    await writeFile(path, '{')
    await truncate(path, 80 << 20)
    await assert.rejects(restoreWorkspaceFrom(at.config, path), /a line that is too long/)
  })
})
