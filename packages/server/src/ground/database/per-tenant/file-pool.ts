/** Databases in files, of which at most so many are open. */
import type { Database } from '../database.ts'

/** A file, open or not. */
export type PooledFile = {
  readonly tenant: string
  opened: Database | undefined
  opening: Promise<Database> | undefined
  closing: Promise<void> | undefined
  /** Statements and units that run, or wait for the file. */
  users: number
}

export const pooledFile = (tenant: string): PooledFile => ({
  tenant,
  opened: undefined,
  opening: undefined,
  closing: undefined,
  users: 0,
})

export type FilePoolOptions<File extends PooledFile> = {
  mostOpen: number
  open: (file: File) => Promise<Database>
  /** Never rejects. Nobody uses the file meanwhile. */
  close: (file: File, opened: Database) => Promise<void>
}

export function filePool<File extends PooledFile>(options: FilePoolOptions<File>) {
  /** Open, or about to be, or about to be closed; the one that was asked for last is the last. */
  const open = new Map<string, File>()
  /** Called when a file is free, or closed. */
  const waiting: (() => void)[] = []

  const resume = () => {
    for (const each of waiting.splice(0)) each()
  }
  const change = () => new Promise<void>((resolve) => void waiting.push(resolve))

  async function reach(file: File): Promise<Database> {
    while (file.closing) await file.closing
    return file.opened ?? (file.opening ??= begin(file).finally(() => (file.opening = undefined)))
  }

  async function begin(file: File): Promise<Database> {
    while (open.size >= options.mostOpen) {
      const oldest = [...open.values()].find(isFree)
      await (oldest ? end(oldest) : change())
    }
    open.set(file.tenant, file)
    try {
      return (file.opened = await options.open(file))
    } catch (error) {
      open.delete(file.tenant)
      resume()
      throw error
    }
  }

  /** Who asks for the file meanwhile waits, and opens it again. */
  function end(file: File): Promise<void> {
    const { opened } = file
    if (!opened) return file.closing ?? Promise.resolve()
    file.opened = undefined
    file.closing = options.close(file, opened).then(() => {
      file.closing = undefined
      open.delete(file.tenant)
      resume()
    })
    return file.closing
  }

  return {
    files: () => [...open.values()],

    /** The file is open until the work ends. Waits while too many others are in use. */
    async use<T>(file: File, work: (database: Database) => Promise<T>): Promise<T> {
      file.users++
      try {
        return await work(file.opened ?? (await reach(file)))
      } finally {
        file.users--
        if (file.users === 0) resume()
      }
    },

    /** The file is the last to be closed now. */
    touch(file: File): void {
      if (open.delete(file.tenant)) open.set(file.tenant, file)
    },

    async closeWhenFree(file: File): Promise<void> {
      while (file.users > 0) await change()
      await end(file)
    },

    async closeFree(which: (file: File) => boolean): Promise<void> {
      for (const file of [...open.values()]) if (isFree(file) && which(file)) await end(file)
    },
  }
}

const isFree = ({ users, opened }: PooledFile): boolean => users === 0 && opened !== undefined
