import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router'
import { Absent } from '../components/absent.tsx'
import { RouteFailure } from '../components/route-failure.tsx'

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: Absent,
  errorComponent: RouteFailure,
})
