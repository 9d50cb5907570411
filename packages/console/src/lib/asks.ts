/** How many sessions ask people: the title and the icon of the tab say so. */
import { createStore } from './store.ts'

export const asksCount = createStore(0)

/** Before the title of a page. */
export const titleMark = (count: number): string => (count === 0 ? '' : `(${count}) `)
