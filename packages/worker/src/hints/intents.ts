/** Stores received hints in a folder. The next start handles hints that a crash left, and no hint is handled twice. */
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

export type Intents = {
  /** Resolves when the hint is on disk. Returns false for an id that was stored before. The id must be a plain name. */
  keep(id: string, text: string): Promise<boolean>
  /** Hints that were not handled yet, the oldest first. */
  open: () => readonly string[]
  settle: (ids: readonly string[]) => Promise<void>
}

/** A sender repeats a hint for minutes, and for days when a person asks for it. */
const keptMs = 7 * 24 * 3_600_000
/** Handled hints that are kept at most, so that the folder of a busy worker does not grow. */
const mostHandled = 10_000

export async function intentsIn(folder: string, now: number, most = mostHandled): Promise<Intents> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const kept = new Map<string, Promise<void>>()
  const waiting = new Set<string>()
  /** The oldest first. */
  const handled = new Set<string>()
  const found = []
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const { mtimeMs } = await stat(path)
    const [id = '', state] = name.split('.')
    const isKept = state === 'open' || (state === 'done' && mtimeMs > now - keptMs)
    if (isKept) found.push({ id, mtimeMs, list: state === 'open' ? waiting : handled })
    else await rm(path)
  }
  for (const { id, list } of found.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
    kept.set(id, Promise.resolve())
    list.add(id)
  }
  await forgetOldest()

  async function forgetOldest(): Promise<void> {
    for (const id of handled) {
      if (handled.size <= most) return
      await rm(join(folder, `${id}.done`), { force: true })
      handled.delete(id)
      kept.delete(id)
    }
  }

  async function write(id: string, text: string): Promise<void> {
    const draft = join(folder, `${id}.draft`)
    const file = await open(draft, 'w', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, join(folder, `${id}.open`))
    await syncFolder(folder)
  }

  return {
    async keep(id, text) {
      const before = kept.get(id)
      if (before) {
        await before
        return false
      }
      const written = write(id, text)
      kept.set(id, written)
      try {
        await written
      } catch (error) {
        kept.delete(id)
        throw error
      }
      waiting.add(id)
      return true
    },
    open: () => [...waiting],
    async settle(ids) {
      for (const id of ids) {
        if (!waiting.delete(id)) continue
        await rename(join(folder, `${id}.open`), join(folder, `${id}.done`))
        handled.add(id)
      }
      await forgetOldest()
    },
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
