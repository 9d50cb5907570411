import type { ReactNode } from 'react'

/** Below a list: what is new, and more of it. */
export const ListFoot = ({ children }: { children: ReactNode }) => (
  <div className="flex justify-center gap-2 px-4 py-3 empty:hidden">{children}</div>
)
