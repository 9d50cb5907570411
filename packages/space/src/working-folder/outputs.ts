/** Outputs of a session that lie in its working folder. */
import { quoteWord } from '@steward/sandbox/quote-word.ts'
import type { MountedKind } from '../mounted-kinds.ts'

const timeoutMs = 10_000
const workspace = '/workspace/'

/** The folder exists before the first command. A command that has put something else in its place keeps that. */
export const outputsBelowWorkspace = (
  folder: string,
): Required<Pick<MountedKind, 'outputsAt' | 'started'>> => ({
  outputsAt: folder,
  async started(sandbox) {
    const script = `mkdir -p -- ${quoteWord(folder.slice(workspace.length))}`
    await sandbox.aside({ script, arguments: [], timeoutMs })
  },
})
