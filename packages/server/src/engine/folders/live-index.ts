/** What lies in the working folder of a session on this machine, in the form of a checkpoint's index. */
import { Worker } from 'node:worker_threads'
import type { FolderIndex, IndexedEntry } from '@steward/space/working-folder/archive-index.ts'

/** In place of an archive's key. */
export const liveArchive = 'live'

export type UnreadPath = { path: string; reason: string }
export type LiveIndex = { entries: FolderIndex; unread: UnreadPath[] }

/** `root`: the path of the folder in indexes. `skipped`: the name of folders whose contents are not looked at. */
export type LiveFolder = { folder: string; root: string; skipped: string }
/** A part of the index, from the thread. */
export type LiveIndexPart = { entries: [string, IndexedEntry][]; unread: UnreadPath[] }

const memoryMb = 256

/** Reads all files, in a thread: tens of thousands of short files would wait for each other elsewhere. */
export async function indexLive(asked: LiveFolder, signal: AbortSignal): Promise<LiveIndex> {
  const index: LiveIndex = { entries: new Map(), unread: [] }
  const worker = new Worker(new URL('./live-index-thread.ts', import.meta.url), {
    workerData: asked,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
  })
  try {
    await new Promise<void>((resolve, reject) => {
      worker.on('message', ({ entries, unread }: LiveIndexPart) => {
        for (const [path, entry] of entries) index.entries.set(path, entry)
        index.unread.push(...unread)
      })
      worker.once('error', reject)
      worker.once('exit', () => resolve())
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    signal.throwIfAborted()
  } finally {
    await worker.terminate()
  }
  return index
}
