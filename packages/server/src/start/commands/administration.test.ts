import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import { workspaceStore } from '../../tenants/workspaces/store.ts'
import type { Database } from '../../ground/database/database.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import type { Role } from '../../ground/core/security/roles.ts'
import { apiKeyStore } from '../../tenants/api-keys/store.ts'
import { inviteByOperator } from '../../tenants/members/operator-invitations.ts'
import { memberStore } from '../../tenants/people/members/store.ts'
import { peopleStore } from '../../tenants/people/store.ts'
import {
  createKey,
  checkNewName,
  createWorkspace,
  ensureInitialWorkspace,
} from '../../tenants/workspaces/create.ts'
import * as administration from './administration.ts'
import { administrationCommand } from './commands.ts'

async function newMember(
  database: Database,
  email: string,
  roles: Record<string, Role>,
): Promise<string> {
  const made = { email, name: email, isEmailVerified: true, isOperator: false, passwordHash: 'h' }
  return database.write(async (tx) => {
    const id = await peopleStore(tx).create(made, 0)
    for (const [tenant, role] of Object.entries(roles))
      await memberStore(tx).add(tenant, id, role, 0)
    return id
  })
}

const keyBy = (database: Database, tenant: string, createdBy: string, admin = false) =>
  database.write((tx) => {
    const key = { key: crypto.randomUUID(), name: 'k', kind: 'workspace', admin } as const
    return apiKeyStore(tx).create(
      tenant,
      { ...key, environmentId: null, expiresAt: null, createdBy },
      0,
    )
  })

for (const [dialect, open] of Object.entries(databases)) {
  describe(`commands of the operator on ${dialect}`, () => {
    async function opened() {
      const { database, ...rest } = await open()
      const github = { url: 'https://github.example', apiUrl: 'https://api.github.example' }
      const logged: Record<string, unknown>[] = []
      const log = jsonLog((line) => logged.push(JSON.parse(line) as Record<string, unknown>))
      const deps = {
        ...{ databases: oneDatabase(database), clock: systemClock, github, log },
        dialAsServer: async () => {},
      }
      const run = async (...args: string[]): Promise<Record<string, unknown>> => {
        const asked = administrationCommand(args)
        assert.ok(asked && 'run' in asked, JSON.stringify(asked))
        return { ...(await asked.run(administration, deps)) }
      }
      return { database, deps, run, logged, ...rest }
    }

    it('name, archive, open again and delete a workspace, and list what is there', async () => {
      await using setup = await opened()
      const { deps, run } = setup
      const { workspace } = await createWorkspace(deps, 'one')
      await createWorkspace(deps, 'taken')
      await assert.rejects(run('rename-workspace', 'one', 'taken'), /name taken already/)
      await createWorkspace(deps, 'taken')
      await assert.rejects(run('list-keys', 'taken'), /2 workspaces have the name taken/)
      for (const id of await workspaceStore(setup.database.read).named('taken')) {
        await run('archive-workspace', id)
        await run('delete-workspace', id)
      }
      await run('rename-workspace', 'one', 'two words')
      await run('rename-workspace', 'two words', 'two words')
      const archived = await run('archive-workspace', 'two words')
      assert.deepEqual([archived['workspace'], archived['revoked_keys']], [workspace, 1])
      await assert.rejects(run('archive-workspace', workspace), /archived already/)
      const further = createKey(deps, workspace, { name: 'k', admin: false })
      await assert.rejects(further, /archived: have it unarchived first/)
      await run('unarchive-workspace', workspace)
      await assert.rejects(run('unarchive-workspace', workspace), /is not archived/)
      await assert.rejects(run('delete-workspace', workspace), /only an archived workspace/)
      await run('archive-workspace', workspace)
      const [listed] = (await run('list-workspaces'))['data'] as Record<string, unknown>[]
      assert.deepEqual(
        [listed?.['name'], listed?.['members'], listed?.['keys']],
        ['two words', 0, 0],
      )
      assert.equal((await run('delete-workspace', 'two words'))['deleted'], true)
      assert.deepEqual(await run('list-workspaces'), { data: [] })
      await assert.rejects(run('list-members', workspace), /no workspace has the id or the name/)
    })

    it('refuse a name of no single line and an address that nobody can have', async () => {
      await using setup = await opened()
      const { deps, run } = setup
      for (const name of ['two\nlines', 'x'.repeat(257), ''])
        await assert.rejects(async () => createWorkspace(deps, name), /1 to 256 characters/)
      assert.deepEqual(await run('list-workspaces'), { data: [] })
      const { workspace } = await createWorkspace(deps, 'one')
      await assert.rejects(
        checkNewName(deps.databases.control.read, 'one'),
        new RegExp(`has the name one already: give another name, .* create-key ${workspace}`),
      )
      const asked = { workspace: 'one', role: 'member', base: 'https://steward.example' } as const
      for (const email of ['ada', 'ada@example.com\nBcc: eve@example.com', ''])
        await assert.rejects(inviteByOperator(deps, { ...asked, email }), /--email: .* no address/)
      const invited = await inviteByOperator(deps, { ...asked, email: ' Ada@Example.com ' })
      assert.equal(invited.email, 'ada@example.com')
    })

    it('end all rights of a person, and every workspace keeps an owner', async () => {
      await using setup = await opened()
      const { database, deps, run } = setup
      const [one, two] = [await createWorkspace(deps, 'one'), await createWorkspace(deps, 'two')]
      const ada = await newMember(database, 'ada@example.com', {
        [one.workspace]: 'owner',
        [two.workspace]: 'member',
      })
      const bea = await newMember(database, 'bea@example.com', { [one.workspace]: 'member' })
      const [kept, other] = [
        await keyBy(database, one.workspace, ada),
        await keyBy(database, two.workspace, ada),
      ]
      await assert.rejects(run('delete-person', 'ada@example.com'), /last owner of one \(wrkspc_/)
      await assert.rejects(run('remove-member', 'one', 'ada@example.com'), /last owner/)
      await assert.rejects(run('remove-member', 'one', 'eve@example.com'), /nobody here has the/)
      const removed = await run('remove-member', 'two', 'Ada@example.com', '--revoke-keys')
      assert.deepEqual(
        (removed['keys'] as { id: string }[]).map(({ id }) => id),
        [other.id],
      )
      await assert.rejects(run('revoke-key', other.id), /was revoked at/)
      await database.write((tx) => memberStore(tx).setRole(one.workspace, bea, 'owner'))
      const both = await Promise.allSettled(
        ['ada', 'bea'].map((name) => run('delete-person', `${name}@example.com`)),
      )
      assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
      const { data: members } = await administration.listMembers(deps, 'one')
      assert.deepEqual(
        members.map(({ role }) => role),
        ['owner'],
      )
      const { data: keys } = await administration.listKeys(deps, 'one')
      assert.ok(keys.some(({ id }) => id === kept.id))
      assert.equal((await run('revoke-key', kept.id))['workspace'], one.workspace)
    })

    it('make, list and release holds, and delete nothing that a hold keeps', async () => {
      await using setup = await opened()
      const { database, deps, run } = setup
      const { workspace } = await createWorkspace(deps, 'one')
      const ada = await newMember(database, 'ada@example.com', { [workspace]: 'member' })
      const ofPerson = await run('create-hold', 'one', ada, 'case 4711')
      const whole = await run('create-hold', 'one', 'all', 'case 4712')
      const { data: holds } = await administration.listHolds(deps, 'one')
      assert.deepEqual(
        holds.map(({ reason, scope }) => [reason, scope.type]),
        [
          ['case 4712', 'workspace'],
          ['case 4711', 'person'],
        ],
      )
      await assert.rejects(run('delete-person', ada), /is kept by the hold/)
      await run('archive-workspace', 'one')
      await assert.rejects(run('delete-workspace', 'one'), /is kept by the hold/)
      for (const { id } of [ofPerson, whole]) await run('release-hold', 'one', String(id))
      assert.deepEqual((await administration.listHolds(deps, 'one')).data, [])
      assert.equal((await run('delete-person', ada))['person'], ada)
      assert.equal((await run('delete-workspace', 'one'))['deleted'], true)
      const { workspace: two } = await createWorkspace(deps, 'two')
      await assert.rejects(run('create-hold', two, 'file_1', 'r'), /neither all nor the id/)
      await assert.rejects(run('create-hold', two, 'all', ''), /1 to 1000 characters/)
    })

    it('are refused if nobody could replace the keys of a workspace afterwards', async () => {
      await using setup = await opened()
      const { database, deps, run } = setup
      const { workspace } = await createWorkspace(deps, 'one')
      const ada = await newMember(database, 'ada@example.com', { [workspace]: 'admin' })
      for (const { id } of (await administration.listKeys(deps, 'one')).data)
        await run('revoke-key', id)
      await keyBy(database, workspace, ada, true)
      const remove = run('remove-member', 'one', 'ada@example.com', '--revoke-keys')
      await assert.rejects(remove, /would be left without an owner and without/)
    })

    it('let the configured key open a new workspace where the first was deleted, and no other', async () => {
      await using setup = await opened()
      const { deps, run } = setup
      await ensureInitialWorkspace(deps, 'configured')
      const { workspace: other } = await createWorkspace(deps, 'other')
      const [first] = (await administration.listWorkspaces(deps)).data
      assert.ok(first)
      await run('archive-workspace', first.id)
      await run('delete-workspace', first.id)
      for (const key of ['configured', 'configured', 'another']) {
        await ensureInitialWorkspace(deps, key)
        const { data } = await administration.listWorkspaces(deps)
        assert.deepEqual(
          data.map(({ name }) => name),
          ['other', 'default'],
        )
      }
      assert.equal((await administration.listKeys(deps, other)).data.length, 1)
    })

    it('give no configured key to a first workspace that is archived, and name that workspace', async () => {
      await using setup = await opened()
      const { deps, run, logged } = setup
      await ensureInitialWorkspace(deps, 'configured')
      const [first] = (await administration.listWorkspaces(deps)).data
      assert.ok(first)
      await run('archive-workspace', first.id)
      await ensureInitialWorkspace(deps, 'another')
      assert.deepEqual((await administration.listKeys(deps, first.id)).data, [])
      const [{ level, message, workspace } = {}] = logged
      assert.deepEqual([level, workspace, logged.length], ['warn', first.id, 1])
      assert.match(String(message), /API_KEY.*archived: unarchive the workspace and start again/)
      await run('unarchive-workspace', first.id)
      await ensureInitialWorkspace(deps, 'another')
      assert.equal((await administration.listKeys(deps, first.id)).data.length, 1)
      assert.equal(logged.length, 1)
    })

    it('admit no key and no member to a workspace that is deleted', async () => {
      await using setup = await opened()
      const { database, deps, run } = setup
      const { workspace } = await createWorkspace(deps, 'one')
      const ada = await newMember(database, 'ada@example.com', { [workspace]: 'owner' })
      await run('archive-workspace', workspace)
      await run('delete-workspace', workspace)
      await assert.rejects(keyBy(database, workspace, ada), /workspace \w+ does not exist/)
      const join = database.write((tx) => memberStore(tx).add(workspace, ada, 'owner', 0))
      await assert.rejects(join, /does not exist/)
      assert.equal((await run('delete-person', 'ada@example.com'))['person'], ada)
      const { data } = await administration.listWorkspaces(deps)
      assert.deepEqual(data, [])
    })
  })
}
