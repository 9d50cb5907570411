/** What keys and the palette do on the page of a session. */
import { useMemo } from 'react'
import { copyText } from '../../lib/clipboard.ts'
import type { PageCommand } from '../../lib/commands.ts'
import { useCommands } from '../../lib/commands.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'

type SessionCommands = {
  id: string
  isRunning: boolean
  onInterrupt: () => void
  onFind: () => void
  onFork: () => void
  onClose: () => void
}

const command = (id: string, keys: string, label: string, run: () => void): PageCommand => ({
  id,
  group: 'page',
  keys,
  label,
  run,
})

export function useSessionCommands(given: SessionCommands): void {
  const { id, isRunning, onInterrupt, onFind, onFork, onClose } = given
  useCommands(
    useMemo(
      () => [
        ...(isRunning
          ? [command('interrupt', '.', words.session.interruptTitle, onInterrupt)]
          : []),
        command('find', '/', words.session.findHint, onFind),
        command('fork', 'f', words.session.fork.title, onFork),
        command(
          'copy id',
          'c',
          words.session.copyId,
          () => void copyText(id).then(() => say({ kind: 'done', text: words.idCopied })),
        ),
        command('close details', 'escape', words.session.closeInspector, onClose),
      ],
      // The functions are others at each render, and do the same.
      // oxlint-disable-next-line react/exhaustive-deps
      [id, isRunning],
    ),
  )
}
