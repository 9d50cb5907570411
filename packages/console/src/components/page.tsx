/** A page: its heading, what stands beside it, and the content. After a change of page the heading has the focus. */
import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'
import { asksCount, titleMark } from '../lib/asks.ts'
import { useStore } from '../lib/store.ts'
import { words } from '../lib/words.ts'
import { LiveSign } from './live-sign.tsx'
import { useFrame } from './frame-context.ts'
import { IconMenu, IconSearch } from './icons.tsx'
import { Key } from './key.tsx'

type PageProps = {
  title: string
  /** Pages above this one. */
  crumbs?: ReactNode
  beside?: ReactNode
  actions?: ReactNode
  /** A line of facts or filters below the heading. */
  line?: ReactNode
  children: ReactNode
}

/** The page that was opened last: while it loads, and when it has. */
let shown: { path: string | undefined; isFirst: boolean } = { path: undefined, isFirst: true }

export function Page({ title, crumbs, beside, actions, line, children }: PageProps) {
  const { openPalette, openNavigation } = useFrame()
  const heading = useRef<HTMLHeadingElement>(null)
  const asks = useStore(asksCount)
  useEffect(() => {
    document.title = `${titleMark(asks)}${title} · ${words.product}`
  }, [asks, title])
  useEffect(() => {
    const here = location.pathname
    const isNew = here !== shown.path
    // The first page of a visit leaves the focus where the browser has it.
    if (isNew) shown = { path: here, isFirst: shown.path === undefined }
    const isLost = document.activeElement === document.body
    if (!shown.isFirst && (isNew || isLost)) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <header className="flex h-12 shrink-0 items-center gap-2.5 border-b px-4">
        <button
          type="button"
          aria-label={words.frame.openNavigation}
          onClick={openNavigation}
          className="-ml-1 hidden size-8 shrink-0 place-items-center rounded-base text-n9 hover:bg-n3 max-drawer:grid"
        >
          <IconMenu />
        </button>
        {crumbs !== undefined && (
          <nav className="flex shrink-0 items-center gap-2 text-n9 max-phone:hidden">
            {crumbs} <span aria-hidden="true">/</span>
          </nav>
        )}
        <h1
          ref={heading}
          tabIndex={-1}
          dir="auto"
          title={title}
          className="min-w-0 truncate text-head font-semibold tracking-[-0.01em] text-n11"
        >
          {title}
        </h1>
        {beside}
        <LiveSign />
        <div className="ml-auto flex shrink-0 items-center gap-2.5">
          <button
            type="button"
            onClick={openPalette}
            className="flex h-7 w-[220px] items-center gap-2 rounded-base border bg-n1 px-2 text-left text-n8 hover:bg-n2 max-split:w-auto"
          >
            <span className="flex-1 truncate max-split:sr-only">{words.search}</span>
            <IconSearch className="hidden max-split:block" />
            <span className="contents max-split:hidden">
              <Key of="⌘K" />
            </span>
          </button>
          {actions}
        </div>
      </header>
      <main id="page" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none">
        {line}
        {children}
      </main>
    </div>
  )
}
