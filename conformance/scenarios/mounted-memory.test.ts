import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, newSession, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' }]
const root = '/mnt/memory/notes'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`memory stores in sandboxes on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const stores = () => service.client.beta.memoryStores

    async function storeWith(files: Record<string, string>): Promise<string> {
      const { id } = await stores().create({ name: 'notes', description: 'what is known' })
      for (const [path, content] of Object.entries(files))
        await stores().memories.create(id, { path, content })
      return id
    }
    const attach = (store: string, more: object = {}) =>
      newSession(
        service,
        { tools },
        { resources: [{ type: 'memory_store', memory_store_id: store, ...more }] },
      )
    const held = async (store: string) => {
      const found: Record<string, string> = {}
      for await (const each of stores().memories.list(store, { view: 'full' }))
        if (each.type === 'memory') found[each.path] = each.content ?? ''
      return found
    }
    const call = async (session: string, tool: string, input: object) => {
      const seen = await turn(service, session, `call ${tool} ${JSON.stringify(input)}`)
      return all(seen, 'agent.tool_result').map(textOf).join('\n')
    }
    const bash = (session: string, command: string) => call(session, 'bash', { command })

    verifies(
      ['memory-stores/written-back', 'resources/memory-store/access'],
      'changes by file tools and commands are in the store, by the session',
      async () => {
        const store = await storeWith({ '/a': 'one', '/b': 'two' })
        const session = await attach(store)
        assert.match(await bash(session, `cat ${root}/a ${root}/b`), /onetwo/)
        await call(session, 'write', { file_path: `${root}/new/c`, content: 'three' })
        await call(session, 'edit', { file_path: `${root}/a`, old_string: 'one', new_string: '1' })
        await bash(session, `mv ${root}/b ${root}/d`)
        assert.deepEqual(await held(store), { '/a': '1', '/d': 'two', '/new/c': 'three' })
        const versions = stores().memoryVersions.list(store, { session_id: session })
        const made = (await Array.fromAsync(versions)).map(
          (each) => `${each.operation} ${each.path}`,
        )
        assert.deepEqual(made.toSorted(), [
          ...['created /d', 'created /new/c', 'deleted /b', 'modified /a'],
        ])
        const reader = await attach(store, { access: 'read_only' })
        const said = await bash(reader, `cat ${root}/a; echo x >${root}/a; rm -f ${root}/d`)
        assert.match(said, /^1.*Read-only/s)
        const write = await call(reader, 'write', { file_path: `${root}/e`, content: 'x' })
        assert.match(write, /read-only/i)
        assert.deepEqual(await held(store), { '/a': '1', '/d': 'two', '/new/c': 'three' })
      },
    )

    verifies(
      ['memory-stores/followed', 'memory-stores/conflict', 'memory-stores/not-taken'],
      'two sessions see what the other wrote, and lose nothing of it',
      async () => {
        const store = await storeWith({ '/a': 'old' })
        const [one, two] = [await attach(store), await attach(store)]
        for (const session of [one, two]) await bash(session, `cd ${root} && cat a`)
        await bash(one, 'echo from one >a; echo x >b')
        const told = await bash(two, 'cat a b; head -c 102401 /dev/zero >large')
        assert.match(told, /^from one\nx\n/)
        assert.match(told, /changed by others meanwhile: \/mnt\/memory\/notes\/a/)
        assert.match(told, /large is not kept in the memory store/)
        await bash(two, 'echo from two >a')
        const late = await bash(one, 'echo later >a')
        const [aside] = /\/workspace\/\.steward\/conflicts\/\S+/.exec(late) ?? []
        assert.match(await bash(one, `cat a ${aside}`), /later\nfrom two/)
        assert.deepEqual(await held(store), { '/a': 'later\n', '/b': 'x\n' })
      },
    )
  })
}
