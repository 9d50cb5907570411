/** `j` `k` and `enter` in a list whose rows open: they move the chosen row and open it. */
import { useMemo } from 'react'
import type { PageCommand } from './commands.ts'
import { useCommands } from './commands.ts'
import { words } from './words.ts'

export function useRowKeys<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  chosen: string | undefined,
  choose: (key: string) => void,
  onOpen: ((row: Row) => void) | undefined,
): void {
  useCommands(
    useMemo((): PageCommand[] => {
      if (!onOpen) return []
      const at = rows.findIndex((row) => keyOf(row) === chosen)
      const to = (index: number) => {
        const row = rows[Math.max(0, Math.min(rows.length - 1, index))]
        if (row !== undefined) choose(keyOf(row))
      }
      const row = rows[at]
      const move: PageCommand[] = [
        { id: 'next', group: 'page', keys: 'j', label: words.list.next, run: () => to(at + 1) },
        {
          id: 'previous',
          group: 'page',
          keys: 'k',
          label: words.list.previous,
          run: () => to(at < 0 ? 0 : at - 1),
        },
      ]
      if (row === undefined) return move
      return [
        ...move,
        {
          id: 'open',
          group: 'page',
          keys: 'enter',
          label: words.list.open,
          run: () => onOpen(row),
        },
      ]
    }, [rows, keyOf, chosen, choose, onOpen]),
  )
}
