import type { ReactNode } from 'react'

/** What a person who does not see the page hears when it changes: states, and never what is written letter by letter. */
export const Heard = ({ children }: { children: ReactNode }) => (
  <output className="sr-only">{children}</output>
)
