/** Short news for the corner of the page. Never the only place of an error. */
import { createStore } from './store.ts'

export type ToastNote = {
  id: number
  text: string
  kind: 'done' | 'failed'
  action?: { label: string; run: () => void }
}

export const toasts = createStore<readonly ToastNote[]>([])

let count = 0

export function say(note: Omit<ToastNote, 'id'>): void {
  toasts.set([...toasts.get(), { ...note, id: ++count }])
}
