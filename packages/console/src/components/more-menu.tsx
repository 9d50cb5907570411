/** What is done to a thing less often: behind a button at the end of its heading. */
import { lazy, Suspense } from 'react'
import { words } from '../lib/words.ts'
import { IconMore } from './icons.tsx'
import type { MenuItem } from './menu.tsx'

const Menu = lazy(async () => ({ default: (await import('./menu.tsx')).Menu }))

const face = (
  <span className="grid size-7 place-items-center rounded-base text-n9 hover:bg-n3 hover:text-n11">
    <IconMore />
  </span>
)

export const MoreMenu = ({ items }: { items: readonly MenuItem[] }) => (
  <Suspense fallback={face}>
    <Menu label={words.more} items={items} trigger={face} />
  </Suspense>
)
