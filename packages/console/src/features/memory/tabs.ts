/** The views of a memory store, as its address names them. */
export const storeTabs = ['memories', 'versions'] as const
export type StoreTab = (typeof storeTabs)[number]
