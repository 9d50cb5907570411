import assert from 'node:assert/strict'
import { readdir, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { collectGarbage } from '@steward/base/cost-fixture.ts'
import { WorkspaceDatabaseError } from '../../core/errors.ts'
import { isLongRun } from '../fixture.ts'
import { openFilePerTenant, putVault, vaultsIn } from './fixture.ts'

const size = isLongRun
  ? { tenants: 300, open: 64, requests: 5_000 }
  : { tenants: 24, open: 6, requests: 400 }
const together = 32
/** Most memory of an open file, which has two connections with statements. */
const bytesOfFile = 1_500_000
/** Variation of the process's memory without any open file. */
const bytesOfNoise = 16_000_000

/** Number of databases in this folder that the process has open. */
async function openIn(folder: string): Promise<number> {
  const own = '/proc/self/fd'
  const targets = (await readdir(own)).map((fd) => readlink(join(own, fd)).catch(() => ''))
  const paths = new Set(await Promise.all(targets))
  return [...paths].filter((path) => path.startsWith(folder) && path.endsWith('.db')).length
}

/** The same sequence in each run. */
function sequence(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

describe('many more tenants than files may be open', () => {
  it('are served without an error in flat memory, and a damaged file harms its own tenant alone', async () => {
    const tenants = Array.from({ length: size.tenants }, (_, n) => `wrkspc_${n}`)
    const [damaged = '', ...sound] = tenants
    await using at = await openFilePerTenant(tenants, { mostOpen: size.open })
    for (const tenant of tenants) await putVault(await at.databases.open(tenant), tenant, 'vlt_0')
    await at.close()
    await writeFile(join(at.folder, `${damaged}.db`), 'no database'.repeat(5_000))
    const databases = await at.reopen()
    const below = sequence(20_261_123)
    const written = new Map(sound.map((tenant) => [tenant, 1]))
    let refused = 0

    async function request(): Promise<void> {
      const tenant = tenants[below(tenants.length)] ?? ''
      const isWrite = below(3) === 0
      try {
        const database = await databases.open(tenant)
        const count = written.get(tenant) ?? 0
        if (isWrite) {
          written.set(tenant, count + 1)
          await putVault(database, tenant, `vlt_${count}`)
        } else assert.ok((await vaultsIn(database)).length > 0)
      } catch (error) {
        assert.ok(error instanceof WorkspaceDatabaseError && tenant === damaged, String(error))
        refused++
      }
    }

    async function requests(count: number): Promise<void> {
      let left = count
      const one = async () => {
        while (left-- > 0) await request()
      }
      await Promise.all(Array.from({ length: together }, one))
    }

    await requests(size.requests / 2)
    collectGarbage()
    const middle = process.memoryUsage.rss()
    const open = await openIn(at.folder)
    await requests(size.requests / 2)
    collectGarbage()
    const grown = process.memoryUsage.rss() - middle
    assert.ok(refused > 0)
    assert.ok(open > 1 && open <= size.open, `${open} databases are open`)
    assert.ok(grown < size.open * bytesOfFile + bytesOfNoise, `${grown} bytes more than half way`)
    for (const [tenant, count] of written)
      assert.equal((await vaultsIn(await databases.open(tenant))).length, count, tenant)
  })
})
