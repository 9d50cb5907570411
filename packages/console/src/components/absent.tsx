import { Link } from '@tanstack/react-router'
import { words } from '../lib/words.ts'

/** The page of an address that has nothing. */
export const Absent = () => (
  <main className="mx-auto grid max-w-[560px] justify-items-center gap-3 px-4 py-24 text-center">
    <h1 className="text-head font-semibold text-n11">{words.failures.notFound}</h1>
    <p>{words.failures.notFoundHint}</p>
    <Link to="/sessions" className="text-accent hover:underline">
      {words.failures.toSessions}
    </Link>
  </main>
)
