/**
 * A `LIMIT` clause with the SQL parameter `parameter`. For a plain `LIMIT ?`, SQLite's planner considers the bound
 * value, and so parses and plans the statement again each time the parameter is bound. That takes several times as long
 * as the statement itself. The planner does not evaluate an expression, so the clause contains one.
 */
export function limitedBy(parameter = '?'): string {
  return `LIMIT ${parameter} + 0`;
}
