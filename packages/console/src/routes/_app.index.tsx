import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { HomePage } from '../features/home/home-page.tsx'

export const Route = createFileRoute('/_app/')({ component: Home })

function Home() {
  const navigate = useNavigate()
  return (
    <HomePage
      onSession={(sessionId) =>
        void navigate({ to: '/sessions/$sessionId', params: { sessionId } })
      }
    />
  )
}
