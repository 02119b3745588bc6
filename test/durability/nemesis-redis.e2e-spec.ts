import { CI_ROUNDS } from './nemesis/rounds.js';
import { nemesisSuite } from './nemesis/suite.js';

nemesisSuite(CI_ROUNDS.redis.fleet, CI_ROUNDS.redis.rounds);
