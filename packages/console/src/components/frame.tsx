/** The frame of all pages: the rail of 208 px, folded 48, a drawer below 800 px. */
import { CSPProvider } from '@base-ui/react/csp-provider'
import type { ReactNode } from 'react'
import { lazy, Suspense, useState } from 'react'
import { useStore } from '../lib/store.ts'
import { toasts } from '../lib/toasts.ts'
import { words } from '../lib/words.ts'
import { FrameContext } from './frame-context.ts'

const Drawer = lazy(async () => ({ default: (await import('./drawer.tsx')).Drawer }))
const Toaster = lazy(async () => ({ default: (await import('./toaster.tsx')).Toaster }))
const foldedName = 'steward.folded'

const readFolded = (): boolean => {
  try {
    return localStorage.getItem(foldedName) === '1'
  } catch {
    return false
  }
}

type FrameProps = {
  /** The content of the rail, for a rail that is folded or not. */
  rail: (state: { isFolded: boolean; fold: (() => void) | undefined }) => ReactNode
  openPalette: () => void
  children: ReactNode
}

export function Frame({ rail, openPalette, children }: FrameProps) {
  const [isFolded, setFolded] = useState(readFolded)
  const [isOpen, setOpen] = useState(false)
  const fold = () => {
    setFolded(!isFolded)
    try {
      localStorage.setItem(foldedName, isFolded ? '0' : '1')
    } catch {
      // It holds until the page is left.
    }
  }
  return (
    // The policy admits no style that a library writes into the page.
    <CSPProvider disableStyleElements>
      <FrameContext value={{ openPalette, openNavigation: () => setOpen(true) }}>
        <a
          href="#page"
          onClick={(event) => {
            // The address of a page may not change: <base> would make it another one.
            event.preventDefault()
            document.getElementById('page')?.focus()
          }}
          className="fixed top-2 left-2 z-10 -translate-y-16 rounded-base bg-n11 px-3 py-1.5 text-n1 focus:translate-y-0"
        >
          {words.frame.skip}
        </a>
        <div
          className={`grid h-full max-drawer:grid-cols-[minmax(0,1fr)] ${isFolded ? 'grid-cols-[48px_minmax(0,1fr)]' : 'grid-cols-[208px_minmax(0,1fr)]'}`}
        >
          <div className="flex min-h-0 flex-col gap-px relative overflow-x-hidden overflow-y-auto border-r bg-n2 p-2 max-drawer:hidden">
            {rail({ isFolded, fold })}
          </div>
          <div className="flex min-h-0 min-w-0 flex-col">{children}</div>
        </div>
        {isOpen && (
          <Suspense>
            <Drawer label={words.frame.navigation} onClose={() => setOpen(false)}>
              {rail({ isFolded: false, fold: undefined })}
            </Drawer>
          </Suspense>
        )}
        <Toasts />
      </FrameContext>
    </CSPProvider>
  )
}

/** Loaded with the first toast. */
const Toasts = () =>
  useStore(toasts).length === 0 ? null : (
    <Suspense>
      <Toaster />
    </Suspense>
  )
