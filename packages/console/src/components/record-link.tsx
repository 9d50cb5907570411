import { Link } from '@tanstack/react-router'
import type { LinkComponentProps } from '@tanstack/react-router'

/** Leads to the page of a thing, by its name. */
export const RecordLink = ({ children, ...to }: LinkComponentProps) => (
  <Link {...to} title={typeof children === 'string' ? children : undefined} dir="auto">
    {children}
  </Link>
)
