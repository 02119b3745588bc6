import { CI_ROUNDS } from './nemesis/rounds.js';
import { nemesisSuite } from './nemesis/suite.js';

nemesisSuite(CI_ROUNDS.failover.fleet, CI_ROUNDS.failover.rounds);
