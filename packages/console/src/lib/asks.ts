/** How many sessions ask people: the title and the icon of the tab say so. */
import iconAsks from '../styles/icon-asks.svg'
import icon from '../styles/icon.svg'
import { createStore } from './store.ts'

export const asksCount = createStore(0)

/** Before the title of a page. */
export const titleMark = (count: number): string => (count === 0 ? '' : `(${count}) `)

export function showAsks(count: number): void {
  if (asksCount.get() === count) return
  asksCount.set(count)
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (link) link.href = count === 0 ? icon : iconAsks
}
