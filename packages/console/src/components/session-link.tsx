import { Link } from '@tanstack/react-router'

/** Leads to a session, by its title. */
export const SessionLink = ({ id, title }: { id: string; title: string }) => (
  <Link to="/sessions/$sessionId" params={{ sessionId: id }} title={title}>
    {title}
  </Link>
)
