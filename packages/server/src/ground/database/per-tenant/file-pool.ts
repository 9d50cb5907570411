/** Databases in files, with a limit of open files. */
import type { Database } from '../database.ts'

/** A file of the pool, open or closed. */
export type PooledFile = {
  readonly tenant: string
  opened: Database | undefined
  opening: Promise<Database> | undefined
  closing: Promise<void> | undefined
  /** Number of statements and units that use the file or wait for it. */
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
  /** Closes the file, while nobody uses it. Must not reject. */
  close: (file: File, opened: Database) => Promise<void>
}

export function filePool<File extends PooledFile>(options: FilePoolOptions<File>) {
  /** Files that are open, opening or closing, in the order of their last use. */
  const open = new Map<string, File>()
  /** Callbacks of waiters, called when a file becomes free or is closed. */
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

  /** Closes a file. A caller that needs it meanwhile waits and opens it again. */
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

    /** Runs the work with the file open. Waits while too many other files are in use. */
    async use<T>(file: File, work: (database: Database) => Promise<T>): Promise<T> {
      file.users++
      try {
        return await work(file.opened ?? (await reach(file)))
      } finally {
        file.users--
        if (file.users === 0) resume()
      }
    },

    /** Marks the file as used now, so that it is closed after all others. */
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
