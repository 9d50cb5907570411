/** What the page that is open can do: keys, the palette and the list of keys read the same commands. */
import { useEffect } from 'react'
import { commandFor } from './command-keys.ts'
import { createStore } from './store.ts'

export type PageCommand = {
  id: string
  /** A verb and its object. */
  label: string
  group: 'page' | 'go' | 'console'
  /** As they are written: `g s`, `/`, `j`. Two keys are pressed one after the other. */
  keys?: string | undefined
  run: () => void
}

export const commands = createStore<readonly PageCommand[]>([])

export function useCommands(given: readonly PageCommand[]): void {
  useEffect(() => {
    commands.set([...commands.get(), ...given])
    return () => commands.set(commands.get().filter((each) => !given.includes(each)))
  }, [given])
}

const between = 1_000

/** True where a key writes, or belongs to what lies over the page. */
const isElsewhere = (target: EventTarget | null): boolean =>
  (target instanceof Element ? target : document.body).closest(
    'input, textarea, select, [contenteditable=true], [role=dialog], [role=alertdialog], [role=menu], [role=listbox], .cm-editor',
  ) !== null || document.querySelector('[role=dialog],[role=alertdialog]') !== null

const isModified = ({ metaKey, ctrlKey, altKey }: KeyboardEvent): boolean =>
  metaKey || ctrlKey || altKey

const isPaletteKey = ({ key, metaKey, ctrlKey, altKey }: KeyboardEvent): boolean =>
  key.toLowerCase() === 'k' && (metaKey || ctrlKey) && !altKey

/** Listens until the signal aborts. */
export function listenToKeys(signal: AbortSignal): void {
  let before: { key: string; at: number } | undefined
  const press = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || event.repeat) return
    if (isPaletteKey(event)) {
      event.preventDefault()
      commands
        .get()
        .find(({ id }) => id === 'palette')
        ?.run()
      return
    }
    if (isModified(event) || isElsewhere(event.target)) return
    const recent = before && event.timeStamp - before.at < between ? before.key : undefined
    const key = event.key.length === 1 ? event.key : event.key.toLowerCase()
    const { command, isBegun } = commandFor(commands.get(), key, recent)
    before = isBegun ? { key, at: event.timeStamp } : undefined
    if (!command) return
    event.preventDefault()
    command.run()
  }
  document.addEventListener('keydown', press, { signal })
}
