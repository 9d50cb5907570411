/**
 * Keeps texts that another text displaced from their path: first on the host, then in the session's working folder,
 * from which nothing is written to the store.
 */
import { mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { z } from 'zod'

const own = '/workspace/.steward'

const DisplacedText = z.object({ to: z.string(), content: z.string(), notice: z.string() })
type DisplacedText = z.infer<typeof DisplacedText>
export type DisplacedTexts = ReturnType<typeof displacedTexts>

/** Only the server writes to `folder`. */
export function displacedTexts(folder: string, now: () => number) {
  let count = 0
  return {
    /** Keeps a text on the host. `about`: the beginning of its notice, to which the path of the text is added. */
    async keep(path: string, content: string, about: string): Promise<void> {
      const stamp = new Date(now()).toISOString().replace(/[-:.]/g, '')
      const name = `${stamp}-${++count}`
      const to = `${own}/conflicts/${name}${path}`
      const aside: DisplacedText = { to, content, notice: `${about} ${to}` }
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(join(folder, name), JSON.stringify(aside))
    },

    /**
     * Writes the kept texts to the working folder and returns their notices. A text that cannot be written stays for
     * the next call.
     */
    async deliver(sandbox: Sandbox): Promise<string[]> {
      const notices: string[] = []
      for (const name of await namesIn(folder)) {
        const text = await readFile(join(folder, name), 'utf8')
        const { to, content, notice } = DisplacedText.parse(JSON.parse(text))
        if (!(await sandbox.write(to, Buffer.from(content))).ok) continue
        await unlink(join(folder, name))
        notices.push(notice)
      }
      // Keeps the texts out of the session's searches and commits.
      if (notices.length > 0)
        for (const list of ['.ignore', '.gitignore'])
          await sandbox.write(`${own}/${list}`, Buffer.from('*\n'))
      return notices
    },
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
