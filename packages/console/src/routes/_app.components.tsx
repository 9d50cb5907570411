import { createFileRoute } from '@tanstack/react-router'
import { ComponentsPage } from '../features/design/components-page.tsx'

export const Route = createFileRoute('/_app/components')({ component: ComponentsPage })
