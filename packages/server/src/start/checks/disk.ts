import { mkdtemp, open, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { spaceProblem } from '@steward/sandbox/disk.ts'
import type { Config } from '../../ground/config/config.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import type { SetupCheck, SetupFinding } from './finding.ts'
import { failed, ok, describeCauses, warning, writeRemedy } from './finding.ts'

const syncs = 5
/** A sync that takes longer is slow. Each commit waits for one sync. */
const slowSyncMs = 10
const gibibyte = 2 ** 30

export function diskChecks({ dataDir, sandboxDir, blobs, disk }: Config): SetupCheck[] {
  const { settings } = serverProgram
  const folders: [setting: string, folder: string][] = [
    [settings.dataDir.name, dataDir],
    [settings.sandboxDir.name, sandboxDir],
  ]
  if (blobs?.type === 'disk') folders.push([settings.stores.name, blobs.dir])
  return folders.map(
    ([setting, folder]) =>
      () =>
        findingOf(setting, resolve(folder), disk.floor),
  )
}

/** Checks a folder. The folder may not exist before the first start. */
async function findingOf(
  setting: string,
  folder: string,
  floor: Config['disk']['floor'],
): Promise<SetupFinding> {
  const there = await nearestFolder(folder)
  const syncMs = await medianSyncMs(there).catch((error: unknown) => error)
  if (typeof syncMs !== 'number')
    return failed(
      `disk: nothing can be written below ${folder} (${setting}): ${describeCauses(syncMs)}`,
      writeRemedy(syncMs, setting),
    )
  const lack = await spaceProblem(there, floor)
  if (lack !== undefined)
    return failed(
      `disk: ${folder} (${setting}): ${lack}`,
      `free space, or name a folder on a larger disk by ${setting}`,
    )
  const { bavail, bsize } = await statfs(there)
  const free = `${Math.floor((bavail * bsize) / gibibyte)} GiB are free`
  const about = `disk: ${folder} (${setting}): ${free}, and a write is on disk after ${syncMs.toFixed(1)} ms`
  return syncMs < slowSyncMs
    ? ok(about)
    : warning(about, 'use a faster disk: each commit waits for one such write')
}

async function nearestFolder(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() || dirname(folder) === folder) return folder
  return nearestFolder(dirname(folder))
}

async function medianSyncMs(folder: string): Promise<number> {
  const own = await mkdtemp(join(folder, '.steward-doctor-'))
  try {
    await using file = await open(join(own, 'sync'), 'w')
    const times: number[] = []
    for (let n = 0; n < syncs; n++) {
      const began = performance.now()
      await file.write(Buffer.alloc(4_096), 0, 4_096, n * 4_096)
      await file.datasync()
      times.push(performance.now() - began)
    }
    return times.toSorted((a, b) => a - b)[Math.floor(syncs / 2)] ?? 0
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}
