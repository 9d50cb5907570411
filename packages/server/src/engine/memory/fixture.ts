/** For tests: sessions with memory stores in real sandboxes, with the calls that a runner makes. */
import { mkdtemp, rm } from 'node:fs/promises'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MemoryAccess } from '@steward/protocol/session-resources.ts'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { createSeal } from '../../ground/core/security/seal.ts'
import type { TestDatabase } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { storeIn, tenant } from '../../resources/memory-stores/fixture.ts'
import { memoryStore } from '../../resources/memory-stores/mounted-store.ts'
import { newSession } from '../../sessions/fixture.ts'
import { attachResources } from '../../sessions/resources/attach.ts'
import { resourceKinds } from '../../sessions/resources/kinds.ts'
import { mountMemory } from './mount.ts'
import { limitsFor } from '../../tenants/limits/limits.ts'

export { tenant }
const limits = { memory: 256 << 20, processes: 64, cpus: 1, scratch: 16 << 20, file: 1 << 30 }
const seal = createSeal('a root secret for tests')

export type MemoryBench = Awaited<ReturnType<typeof memoryBench>>
export type RunningMount = Awaited<ReturnType<MemoryBench['start']>>

export async function memoryBench(open: () => Promise<TestDatabase>) {
  const opened = await open()
  const { database } = opened
  const folder = await mkdtemp(join(tmpdir(), 'steward-memory-'))
  const ground = testGround(database)
  const provider = bubblewrapSandboxes()
  /** A second mount kind, as another process has it. */
  const newKind = () => mountMemory({ ...ground, quotas: limitsFor('off', ground).quotas })
  const kind = newKind()
  const running = new Set<Sandbox>()

  return {
    database,
    folder,
    newKind,
    newStore: () => storeIn(database),

    /** Contents of the store, by path. */
    async held(store: string): Promise<Record<string, string>> {
      const mounted = memoryStore(database.read)
      const facts = await mounted.facts(tenant, store)
      const paths = [...(facts?.hashes.keys() ?? [])]
      const found = paths.length === 0 ? [] : await mounted.contents(tenant, store, paths)
      return Object.fromEntries(found.map(({ path, content }) => [path, content]))
    },

    async session(
      ...stores: { id: string; access?: MemoryAccess; mount_path?: string }[]
    ): Promise<string> {
      const session = await newSession(database)
      const now = Date.now()
      const kinds = resourceKinds({ seal, repositoryHosts: [], storeAccess: 'read_write' })
      const wanted = stores.map(({ id, access, mount_path }) => ({
        resource: { type: 'memory_store', memory_store_id: id, access, mount_path } as const,
        at: '',
      }))
      await database.write((tx) => attachResources(tx, kinds, { tenant, session, now }, wanted))
      return session
    },

    /**
     * Starts a sandbox with the session's stores. `from`: the mount kind. The returned functions are the steps of a
     * turn.
     */
    async start(session: string, from = kind) {
      const own = join(folder, session)
      const setup = {
        id: session,
        workspace: join(own, 'workspace'),
        outputs: join(own, 'outputs'),
      }
      for (const each of [setup.workspace, setup.outputs]) mkdirSync(each, { recursive: true })
      await provider.reap(setup)
      const mountedKind = await from({
        tenant,
        session,
        folder: own,
        start: mkdtempSync(join(own, 'start-')),
      })
      const mounts = mountedKind.mounts ?? []
      const spec = { ...setup, isPrefilled: false, env: {}, limits, egress: null, mounts }
      const sandbox = await provider.acquire(spec)
      running.add(sandbox)
      await mountedKind.started?.(sandbox)
      const shell = async (command: string) =>
        (await sandbox.shell({ command, timeoutMs: 30_000 })).output
      return {
        sandbox,
        own,
        shell,
        before: () => mountedKind.before?.(sandbox),
        changed: async () => (await mountedKind.changed?.(sandbox)) ?? [],
        rested: () => mountedKind.rested?.(sandbox),
        /** Runs a command like a tool. Returns its output and the lines for the model. */
        async call(command: string): Promise<{ output: string; told: string }> {
          await mountedKind.before?.(sandbox)
          const output = await shell(command)
          return { output, told: ((await mountedKind.changed?.(sandbox)) ?? []).join('\n') }
        },
        /** `died`: the sandbox closes without `ended`, as when the server dies. */
        async stop(how: 'ended' | 'died' = 'ended'): Promise<void> {
          await sandbox.close()
          running.delete(sandbox)
          if (how === 'ended') await mountedKind.ended?.()
        },
      }
    },

    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((sandbox) => sandbox.close()))
      await opened[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
